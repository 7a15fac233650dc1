function value = log_fit(S, z, theta, s2, noise)
  % ln N(z; S theta, s2 S + noise I), up to a constant. [AYB23] Eq. (10), with the covariance of the errata.
  R = chol(s2 * S + noise * eye(rows(S)));
  e = R' \ (z - S * theta);
  value = -sum(log(diag(R))) - 0.5 * (e' * e);
end
