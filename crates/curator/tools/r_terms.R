# Writes tests/golden/formula_r.csv: the columns that R makes of the formulas in tests/golden/formula.csv.
#
# Run in the folder of the crate:  Rscript tools/r_terms.R
#
# Differences of naming that are mapped: levels are called [a], [b], ..., so that `siteb` is `site[b]`, and R
# writes `x/3` where we write `x / 3`. Weighted sums as in tools/formulaic_terms.py.

library(stats)

i <- 0:23
table <- data.frame(
  y = 3 + (i * i) %% 11,
  x1 = 1 + i / 4,
  x2 = 2 + (5 * i) %% 7,
  x3 = -2 + (3 * i) %% 5,
  "body mass" = 50 + (7 * i) %% 13,
  site = factor(c("[a]", "[b]", "[c]")[i %% 3 + 1]),
  sex = factor(c("[f]", "[m]")[(i %/% 3) %% 2 + 1]),
  arm = factor(c("[p]", "[q]")[(i %/% 6) %% 2 + 1]),
  check.names = FALSE
)

spaced <- function(name) gsub("([^ ])/([^ ])", "\\1 / \\2", name)

described <- function(text) {
  formula <- as.formula(text)
  matrix <- model.matrix(formula, table)
  names <- colnames(matrix)
  features <- names != "(Intercept)"
  sums <- vapply(which(features), function(k) sprintf("%.17g", sum((i + 1) * matrix[, k])), "")
  intercept <- if (all(features)) "false" else "true"
  response <- spaced(deparse(formula[[2]]))
  paste(text, response, intercept, paste(spaced(names[features]), collapse = " | "), paste(sums, collapse = " | "), sep = ",")
}

lines <- readLines("tests/golden/formula.csv")
formulas <- sub(",.*", "", lines[-(1:2)])
header <- paste0("# Made by tools/r_terms.R with R ", R.version$major, ".", R.version$minor, ", on ", Sys.Date(), ".")
writeLines(c(header, "formula,response,intercept,names,sums", vapply(formulas, described, "")), "tests/golden/formula_r.csv")
