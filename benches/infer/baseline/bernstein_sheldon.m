function draws = bernstein_sheldon(release, K, covariance_of = @vectorised)
  % MCMC-B&S: [AYB23] appendix C.1 with its errata, upper triangle of S only. Covariances of the entries come vectorised, or from
  % another function of the moments.
  d = release.d;
  p = d + 1;
  J = release.J;
  n = release.records;
  a_n = release.a + sum(n) / 2;
  Lambda_0 = eye(d);
  [row, column] = find(triu(ones(p)));
  place = sub2ind([p, p], row, column);
  mirror = sub2ind([p, p], column, row);
  for j = 1:J
    inverse_noise{j} = 1 ./ release.scale{j}(place) .^ 2;
    evidence{j} = release.gram{j}(place) .* inverse_noise{j};
  end
  total = zeros(p);
  for j = 1:J
    total = total + release.gram{j};
  end
  Sigma = (nearest_psd(total(1:d, 1:d)) + eye(d)) / sum(n);
  theta = zeros(d, 1);
  s2 = 1 / 3;
  draws = zeros(d, K);
  for i = 1:K
    % Mean and covariance of the entries of w w', w = (x, y).
    cross = Sigma * theta;
    Omega = [Sigma, cross; cross', s2 + theta' * cross];
    mu = Omega(place);
    covariance = covariance_of(Omega, Sigma, theta, s2, row, column);
    Q = inv(covariance);
    pull = Q * mu;
    ss = zeros(numel(place), 1);
    for j = 1:J
      % As printed: the posterior covariance, then a normal draw from it.
      Sigma_post = inv(Q / n(j) + diag(inverse_noise{j}));
      mu_post = Sigma_post * (pull + evidence{j});
      ss = ss + mu_post + chol((Sigma_post + Sigma_post') / 2)' * randn(numel(place), 1);
    end
    total(place) = ss;
    total(mirror) = ss;
    S = nearest_psd(total(1:d, 1:d));
    z = total(1:d, p);
    u = total(p, p);
    R = inv(chol(S + release.Lambda));
    Sigma = inv(wishart(R, release.kappa + sum(n)));
    Sigma = (Sigma + Sigma') / 2;
    R = chol(S + Lambda_0);
    half = R' \ (z + Lambda_0 * release.m);
    b_n = max(release.b + 0.5 * (u + release.m' * Lambda_0 * release.m - half' * half), release.b);
    s2 = b_n / randg(a_n);
    theta = R \ (half + sqrt(s2) * randn(d, 1));
    draws(:, i) = theta;
  end
end

function covariance = vectorised(Omega, Sigma, theta, s2, row, column)
  covariance = Omega(row, row) .* Omega(column, column) + Omega(row, column) .* Omega(column, row);
end
