function draws = bernstein_sheldon_as_written(release, K)
  % The same chain with covariances as [BS19] section 3.4.1 prints them: one sum over coefficients for every pair of entries.
  draws = bernstein_sheldon(release, K, @as_written);
end

function covariance = as_written(Omega, Sigma, theta, s2, row, column)
  d = numel(theta);
  count = numel(row);
  covariance = zeros(count);
  for a = 1:count
    for b = a:count
      i = row(a); j = column(a); k = row(b); l = column(b);
      responses = [sum([i, j] > d), sum([k, l] > d)];
      value = 0;
      if isequal(responses, [0, 0])
        value = (Sigma(i, k) * Sigma(j, l) + Sigma(i, l) * Sigma(j, k));
      elseif isequal(responses, [0, 1])
        for m = 1:d
          value = value + theta(m) * (Sigma(i, k) * Sigma(j, m) + Sigma(i, m) * Sigma(j, k));
        end
      elseif isequal(responses, [1, 0])
        for m = 1:d
          value = value + theta(m) * (Sigma(i, k) * Sigma(m, l) + Sigma(i, l) * Sigma(m, k));
        end
      elseif isequal(responses, [1, 1])
        value = s2 * Sigma(i, k);
        for m = 1:d
          for o = 1:d
            value = value + theta(m) * theta(o) * (Sigma(i, k) * Sigma(m, o) + Sigma(i, o) * Sigma(m, k));
          end
        end
      elseif isequal(responses, [0, 2])
        for m = 1:d
          for o = 1:d
            value = value + theta(m) * theta(o) * (Sigma(i, m) * Sigma(j, o) + Sigma(i, o) * Sigma(j, m));
          end
        end
      elseif isequal(responses, [1, 2])
        for m = 1:d
          value = value + 2 * s2 * theta(m) * Sigma(i, m);
          for o = 1:d
            for q = 1:d
              value = value + theta(m) * theta(o) * theta(q) * (Sigma(i, o) * Sigma(m, q) + Sigma(i, q) * Sigma(m, o));
            end
          end
        end
      else
        value = 2 * s2 ^ 2 + 4 * s2 * theta' * Sigma * theta;
        for m = 1:d
          for o = 1:d
            for q = 1:d
              for r = 1:d
                value = value + theta(m) * theta(o) * theta(q) * theta(r) * (Sigma(m, q) * Sigma(o, r) + Sigma(m, r) * Sigma(o, q));
              end
            end
          end
        end
      end
      covariance(a, b) = value;
      covariance(b, a) = value;
    end
  end
end
