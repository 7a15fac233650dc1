% Answers one request per line of standard input: METHOD RELEASES STEPS SEED DRAWS. Prints CPU seconds; writes the second half of
% the draws of theta.
addpath(fileparts(mfilename("fullpath")));
line = fgetl(stdin);
while ischar(line)
  if isempty(line)
    line = fgetl(stdin);
    continue;
  end
  words = strsplit(strtrim(line), " ");
  release = read_releases(words{2});
  K = str2double(words{3});
  seed = str2double(words{4});
  rand("twister", seed);
  randn("twister", seed + 1);
  randg("twister", seed + 2);
  start = cputime();
  draws = feval(words{1}, release, K);
  seconds = cputime() - start;
  if numel(words) > 4
    file = fopen(words{5}, "w");
    fwrite(file, draws(:, K / 2 + 1:end), "double");
    fclose(file);
  end
  printf("%.9g\n", seconds);
  fflush(stdout);
  line = fgetl(stdin);
end
