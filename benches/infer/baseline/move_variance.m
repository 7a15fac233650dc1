function s2 = move_variance(S, z, theta, s2, release)
  % A random walk on sigma_y^2. [AYB23] A.4; the sd is that of the authors' code.
  proposed = s2 + 0.1 * randn;
  if proposed <= 0
    return;
  end
  noise = release.sigma_z ^ 2;
  ratio = (release.a + 1) * (log(s2) - log(proposed)) + release.b * (1 / s2 - 1 / proposed);
  for j = 1:numel(S)
    ratio = ratio + log_fit(S{j}, z{j}, theta, proposed, noise) - log_fit(S{j}, z{j}, theta, s2, noise);
  end
  if log(rand) < ratio
    s2 = proposed;
  end
end
