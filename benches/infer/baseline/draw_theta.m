function theta = draw_theta(S, z, s2, noise, C_inverse, shift)
  % theta given sigma_y^2 and S_1..S_J. [AYB23] Eq. (12)
  d = rows(C_inverse);
  P = C_inverse;
  h = shift;
  for j = 1:numel(S)
    U = S{j} / (s2 * S{j} + noise * eye(d));
    P = P + U * S{j};
    h = h + U * z{j};
  end
  R = chol((P + P') / 2);
  theta = R \ (R' \ h + randn(d, 1));
end
