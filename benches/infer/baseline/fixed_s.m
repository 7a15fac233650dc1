function draws = fixed_s(release, K)
  % MCMC-fixedS: [AYB23] Algorithm 2, S_j fixed at the nearest positive semi-definite matrix.
  d = release.d;
  S = cellfun(@nearest_psd, release.S, "UniformOutput", false);
  z = release.z;
  noise = release.sigma_z ^ 2;
  C_inverse = (release.a - 1) / release.b * eye(d);
  shift = C_inverse * release.m;
  s2 = 1 / 3;
  draws = zeros(d, K);
  for i = 1:K
    theta = draw_theta(S, z, s2, noise, C_inverse, shift);
    s2 = move_variance(S, z, theta, s2, release);
    draws(:, i) = theta;
  end
end
