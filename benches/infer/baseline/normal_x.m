function draws = normal_x(release, K)
  % MCMC-normalX: [AYB23] Algorithm 1 with the errata of A.3. alpha_j is adapted in the first half only, to the acceptance of the
  % text, 0.2: the authors' code adapts for ever.
  d = release.d;
  J = release.J;
  z = release.z;
  n = release.records;
  noise = release.sigma_z ^ 2;
  C_inverse = (release.a - 1) / release.b * eye(d);
  shift = C_inverse * release.m;
  s2 = 1 / 3;
  theta = zeros(d, 1);
  log_alpha = log(n .^ 2 / 100);
  for j = 1:J
    S{j} = nearest_psd(release.S{j}) + eye(d);
    % The noise matrix is symmetric: one triangle counts.
    weight{j} = triu(1 ./ release.scale{j}(1:d, 1:d) .^ 2);
  end
  draws = zeros(d, K);
  for i = 1:K
    total = release.Lambda;
    for j = 1:J
      total = total + S{j};
    end
    % Sigma_x is inverse Wishart: its inverse is drawn. [AYB23] Eq. (11)
    precision = wishart(inv(chol(total)), release.kappa + sum(n));
    for j = 1:J
      alpha = d - 1 + exp(log_alpha(j));
      R = chol(S{j});
      proposed = wishart(R' / sqrt(alpha), alpha);
      [Rp, failed] = chol(proposed);
      acceptance = 0;
      if ! failed
        logdet = 2 * sum(log(diag(R)));
        logdetp = 2 * sum(log(diag(Rp)));
        A = Rp / R;
        B = R / Rp;
        ratio = (alpha - (d + 1) / 2) * (logdet - logdetp) + alpha / 2 * (sum(A(:) .^ 2) - sum(B(:) .^ 2));
        ratio = ratio + (n(j) - d - 1) / 2 * (logdetp - logdet) - 0.5 * sum(sum(precision .* (proposed - S{j})));
        ratio = ratio - 0.5 * sum(sum(weight{j} .* ((proposed - release.S{j}) .^ 2 - (S{j} - release.S{j}) .^ 2)));
        ratio = ratio + log_fit(proposed, z{j}, theta, s2, noise) - log_fit(S{j}, z{j}, theta, s2, noise);
        acceptance = min(1, exp(ratio));
        if rand < acceptance
          S{j} = proposed;
        end
      end
      if i <= K / 2
        log_alpha(j) = log_alpha(j) - 5 * i ^ -0.6 * (acceptance - 0.2);
      end
    end
    theta = draw_theta(S, z, s2, noise, C_inverse, shift);
    s2 = move_variance(S, z, theta, s2, release);
    draws(:, i) = theta;
  end
end
