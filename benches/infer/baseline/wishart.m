function S = wishart(L, degrees)
  % A Wishart matrix with scale L L', by Bartlett.
  d = rows(L);
  A = tril(randn(d), -1) + diag(sqrt(2 * randg((degrees - (0:d - 1)') / 2)));
  A = L * A;
  S = A * A';
end
