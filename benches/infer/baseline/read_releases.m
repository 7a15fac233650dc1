function release = read_releases(path)
  % The text file of bench-infer: features, parties, records; then for every party its records, the noisy Gram matrix (response
  % last) and the scales of its noise.
  file = fopen(path);
  numbers = fscanf(file, "%f");
  fclose(file);
  release.d = numbers(1);
  release.J = numbers(2);
  release.n = numbers(3);
  p = release.d + 1;
  at = 3;
  for j = 1:release.J
    release.records(j) = numbers(at + 1);
    release.gram{j} = reshape(numbers(at + 2:at + 1 + p * p), p, p);
    release.scale{j} = reshape(numbers(at + 2 + p * p:at + 1 + 2 * p * p), p, p);
    release.S{j} = release.gram{j}(1:p - 1, 1:p - 1);
    release.z{j} = release.gram{j}(1:p - 1, p);
    release.sigma_z = release.scale{j}(1, p);
    at = at + 1 + 2 * p * p;
  end
  % The prior of both sides.
  release.a = 20;
  release.b = 0.5;
  release.m = zeros(release.d, 1);
  release.kappa = release.d + 1;
  release.Lambda = 0.025 / release.d * eye(release.d);
end
