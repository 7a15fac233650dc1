function S = nearest_psd(S)
  % Negative eigenvalues set to zero (Higham 1988). [AYB23] section 4.2
  [E, D] = eig((S + S') / 2);
  S = E * max(D, 0) * E';
  S = (S + S') / 2;
end
