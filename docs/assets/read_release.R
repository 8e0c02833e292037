# A release of VBAS for analysts, in base R; sf only where areas have shapes.
#
#   source("read_release.R")
#   release <- read_release("release", population = "population")   # a folder, or three files or data frames
#   rates(release, release$records$diagnosis == "diabetes", per = 1000)
#
# A released row shows a region. It counts in each area of its region by the people who live there: its weight. Weights
# of a row add up to 1. What comes out is estimated, from what is published alone; do not publish it as counts.
#
#   read_release(records, crosswalk, areas)   the release, with the weights of its rows
#   spread(release)                           a row per released row and area, with the weight
#   counts(release, by)                       estimated records by area and group, and what is behind them
#   rates(release, cases)                     the rate of something by area, adjusted if asked for
#   exposure(release, "traffic")              by released row: mean over where it may live, and standard deviation
#   with_margins(release, table, ...)         the release, with weights that meet a table of people by area and field
#
# The same as vbas.core.analysis.read_release in Python.

# A release: a folder with released_records, crosswalk and areas (.csv or .gpkg), or the three as paths or data frames.
#   area        field with the identifier of the area, in the areas and the crosswalk; NULL: the crosswalk's only other
#   population  field of the areas with their people
#   count       field of the records that says how many each row stands for; NULL: what a datapackage.json beside the
#               records says, else one each
#   leave_out   which areas a row cannot live in, by how the release was made: "none"; "where level 1 shows the class",
#               for a nested release whose level 1 is the areas; "in zones", if no small count follows from it
#   quasi_identifiers  the fields that make a class, where areas are left out
#   missing     what stands for a missing value in the records, where that is not an empty cell: in a folder with a
#               datapackage.json it is said there (missingValues)
read_release <- function(records, crosswalk = NULL, areas = NULL, area = NULL, population = "population",
                         count = NULL, leave_out = "none", quasi_identifiers = character(), missing = "") {
  stopifnot(leave_out %in% c("none", "where level 1 shows the class", "in zones"))
  if (is.character(records) && dir.exists(records)) {
    folder <- records
    records <- file_in(folder, "released_records")
    if (is.null(crosswalk)) crosswalk <- file_in(folder, "crosswalk")
    if (is.null(areas)) areas <- file_in(folder, "areas")
  }
  counted <- comes_with_counts(records)
  records <- read_table(records, missing)
  if (is.null(count) && counted && "records" %in% names(records)) count <- "records"
  crosswalk <- read_table(crosswalk, codes = NULL)
  fields <- grep("^vbas_region(_[0-9]+)?$", names(crosswalk), value = TRUE)
  if (length(fields) > 1) fields <- paste0("vbas_region_", seq_along(fields))
  if (is.null(area)) area <- setdiff(names(crosswalk), c(fields, "fid", "geom", "geometry"))
  need(length(area) == 1, "The crosswalk has several further fields: say in area which holds the areas.")
  need(all(fields %in% names(crosswalk)) && length(fields), "The crosswalk lacks a level, or has none.")
  areas <- read_table(areas, codes = area)
  need(all(c(area, population) %in% names(areas)), paste("The areas lack the field", area, "or", population))
  need("vbas_region" %in% names(records), "The release has no field vbas_region.")
  at <- match(as_text(crosswalk[[area]]), as_text(areas[[area]]))
  need(!anyNA(at), "The crosswalk names areas that the areas do not have.")
  areas <- areas[at, , drop = FALSE]
  people <- as.numeric(areas[[population]])
  need(all(is.finite(people) & people >= 0), "The population is missing or negative in some area.")
  region_of <- sapply(fields, function(field) as.numeric(crosswalk[[field]]))
  region_of <- matrix(region_of, ncol = length(fields))
  level <- if ("vbas_level" %in% names(records)) as.integer(records$vbas_level) else rep(1L, nrow(records))
  need(length(fields) == 1 || "vbas_level" %in% names(records), "The release has no field vbas_level.")
  class <- rep(1L, nrow(records))
  if (leave_out != "none") class <- number_of(records[quasi_identifiers])
  profile_of <- number_of(data.frame(level, region = as.numeric(records$vbas_region), class))
  one <- match(seq_len(max(profile_of, 0)), profile_of)
  homes <- homes_of(level[one], as.numeric(records$vbas_region)[one], class[one], region_of, leave_out)
  weights <- lapply(homes, function(here) {
    total <- sum(people[here])
    if (total > 0) people[here] / total else rep(1 / length(here), length(here))
  })
  n <- if (is.null(count)) rep(1, nrow(records)) else as.numeric(records[[count]])
  structure(list(records = records, areas = areas, area = area, n = n, profile_of = profile_of,
                 profile = rep(seq_along(homes), lengths(homes)), home = unlist(homes), weight = unlist(weights),
                 level = level[one], region = as.numeric(records$vbas_region)[one], region_of = region_of),
            class = "vbas_release")
}

# The same with weights that meet a table of people by area and some fields of the release, such as age: no area gets
# more of a group than it has people, and those whom the release leaves out live where people are left over.
#   table         a data frame or path with a row for each area and group; area, fields, people: its fields
#   if_different  where more records must live in a region than the table has people there: "stop", or
#                 "take it as weights", which spreads the records of that group by the table and meets nothing
# Rows whose values the table does not have stay spread by all people.
with_margins <- function(release, table, area, fields, people, if_different = "stop") {
  stopifnot(if_different %in% c("stop", "take it as weights"))
  table <- read_table(table, codes = area)
  need(all(c(area, fields, people) %in% names(table)), "The table lacks one of the fields that were named.")
  need(all(fields %in% names(release$records)), "The release has not all of these fields.")
  number <- as.numeric(table[[people]])
  need(all(is.finite(number) & number >= 0), "People are missing or negative in some row of the table.")
  at <- match(as_text(table[[area]]), as_text(release$areas[[release$area]]))
  lived <- unique(release$home[release$weight > 0])
  need(all(lived %in% at), "The table has no row for some area where rows may live: give 0 where nobody lives.")
  key <- function(frame) do.call(paste, c(lapply(frame[fields], as_text), sep = "\r"))
  keys <- key(table)
  groups <- unique(keys)
  group <- match(key(release$records), groups, nomatch = 0)
  new_of <- number_of(data.frame(release$profile_of, group))
  one <- match(seq_len(max(new_of)), new_of)
  old <- release$profile_of[one]
  records <- as.vector(rowsum(release$n, new_of))
  entries <- split(seq_along(release$profile), factor(release$profile, seq_len(max(release$profile))))[old]
  profile <- rep(seq_along(old), lengths(entries))
  home <- release$home[unlist(entries)]
  weight <- release$weight[unlist(entries)]
  for (which in seq_along(groups)) {
    mine <- group[one] == which & records > 0
    if (!any(mine)) next
    here <- mine[profile]
    there <- !is.na(at) & keys == groups[which]
    of_area <- numeric(nrow(release$areas))
    summed <- rowsum(number[there], at[there])
    of_area[as.integer(rownames(summed))] <- summed
    number_in <- cumsum(mine)[profile[here]]
    met <- meet(number_in, home[here], records[mine], release$level[old[mine]], release$region[old[mine]], of_area,
                release$region_of, as_text(release$areas[[release$area]]))
    if (is.character(met)) {
      sentence <- paste0(gsub("\r", ", ", groups[which]), ": ", met)
      need(if_different != "stop", paste("The table contradicts the release.", sentence))
      warning(sentence, call. = FALSE)
      by_table <- of_area[home[here]]
      sums <- as.vector(rowsum(by_table, number_in))[number_in]
      met <- ifelse(sums > 0, by_table / sums, weight[here])
    }
    weight[here] <- met
  }
  release[c("profile_of", "profile", "home", "weight", "level", "region")] <-
    list(new_of, profile, home, weight, release$level[old], release$region[old])
  release
}

print.vbas_release <- function(x, ...) {
  known <- tabulate(x$profile[x$weight > 0], max(x$profile))[x$profile_of] == 1
  cat(sum(x$n), "released records in", nrow(x$areas), "areas;", round(100 * sum(x$n[known]) / sum(x$n), 1),
      "% of them are shown in one area\n")
  invisible(x)
}

# A row for each released row and area where it may live: row (its number in release$records), the area and the weight.
# merge(spread(release), transform(release$records, row = seq_along(vbas_region))) has the fields as well.
spread <- function(release) {
  there <- release$weight > 0
  first <- match(seq_len(max(release$profile)), release$profile[there])
  several <- tabulate(release$profile[there], max(release$profile))
  at <- sequence(several[release$profile_of], first[release$profile_of])
  found <- data.frame(row = rep(seq_along(release$profile_of), several[release$profile_of]))
  found[[release$area]] <- as_text(release$areas[[release$area]])[release$home[there][at]]
  found$weight <- release$weight[there][at]
  found
}

# A quantity of the rows, spread over the areas by their weights and added up there.
total <- function(release, of_rows) {
  of_profile <- as.vector(rowsum(c(as.numeric(of_rows), numeric(max(release$profile))),
                                 c(release$profile_of, seq_len(max(release$profile)))))
  as.vector(tapply(of_profile[release$profile] * release$weight,
                   factor(release$home, seq_len(nrow(release$areas))), sum, default = 0))
}

# Estimated records by area, and by group where `by` names fields of the release:
#   estimate; share of the area's records; rows that may live there; effective: how many records of a known area would
#   tell as much; at_area: share of the estimate from records whose area is known
counts <- function(release, by = character()) {
  group <- if (length(by)) number_of(release$records[by]) else rep(1L, nrow(release$records))
  whole <- total(release, release$n)
  squared <- present <- known <- release
  squared$weight <- release$weight^2
  present$weight <- as.numeric(release$weight > 0)
  alone <- tabulate(release$profile[release$weight > 0], max(release$profile)) == 1
  known$weight <- release$weight * alone[release$profile]
  do.call(rbind, lapply(seq_len(max(group)), function(one) {
    n <- release$n * (group == one)
    estimate <- total(release, n)
    found <- data.frame(estimate, share = estimate / whole, rows = total(present, n),
                        effective = ifelse(estimate > 0, estimate^2 / total(squared, n), 0),
                        at_area = total(known, n) / estimate)
    shown <- release$records[match(one, group), by, drop = FALSE]
    on_map(release, cbind(shown[rep(1, nrow(found)), , drop = FALSE], found))
  }))
}

# The rate of something by area.
#   cases         true, or a number, for each released row
#   adjusted_for  fields of the release: expected cases at the rates of their values in the whole release; ratio
rates <- function(release, cases, adjusted_for = character(), per = 1) {
  cases <- as.numeric(cases)
  need(length(cases) == nrow(release$records) && !anyNA(cases), "Cases need a value for each of the released rows.")
  group <- if (length(adjusted_for)) number_of(release$records[adjusted_for]) else rep(1L, length(cases))
  rate <- as.vector(rowsum(release$n * cases, group) / rowsum(release$n, group))
  every <- counts(release)
  found <- data.frame(cases = total(release, release$n * cases), records = every$estimate)
  found$rate <- per * found$cases / found$records
  found$expected <- total(release, release$n * rate[group])
  found$ratio <- found$cases / found$expected
  found$effective <- every$effective
  found$at_area <- every$at_area
  on_map(release, found)
}

# For each released row the mean of a field of the areas over where it may live, and its standard deviation there.
exposure <- function(release, field) {
  x <- as.numeric(release$areas[[field]])
  need(!anyNA(x[release$home[release$weight > 0]]), paste("An area where rows may live has no", field))
  x[is.na(x)] <- 0
  profile <- factor(release$profile, seq_len(max(release$profile)))
  mean <- as.vector(tapply(release$weight * x[release$home], profile, sum))
  away <- (x[release$home] - mean[release$profile])^2
  sd <- sqrt(as.vector(tapply(release$weight * away, profile, sum)))
  found <- data.frame(mean[release$profile_of], sd[release$profile_of])
  setNames(found, paste0(c("mean_", "sd_"), field))
}

# ---- what these are made of

# The areas where each profile may live, as positions.
#   level, region, class  of each profile; region_of : areas by level
homes_of <- function(level, region, class, region_of, leave_out) {
  coarser <- ncol(region_of)  # levels that repeat the last regions show coarser values: nothing is left out there
  same <- function(one) isTRUE(all.equal(region_of[, one], region_of[, one - 1]))
  while (coarser > 1 && same(coarser)) coarser <- coarser - 1
  inside <- lapply(seq_len(ncol(region_of)), function(one) split(seq_len(nrow(region_of)), region_of[, one]))
  homes <- lapply(seq_along(level), function(one) inside[[level[one]]][[as.character(region[one])]])
  need(!any(vapply(homes, is.null, TRUE)), "A row shows a region that the crosswalk does not have.")
  if (leave_out == "none") return(homes)
  need(leave_out != "where level 1 shows the class" || all(lengths(inside[[1]]) == 1),
       "Level 1 of the release joins areas: what an area shows itself is not known.")
  shown <- vector("list", max(class, 0))  # of each class, the areas that show it more finely
  possible <- homes
  for (own in order(level)) {
    here <- possible[[own]]
    if (level[own] > 1 && level[own] <= coarser) {
      possible[[own]] <- setdiff(here, shown_below(shown, class[own], level[own]))
    }
    need(length(possible[[own]]) > 0, "A class is left without an area: the release was not made like that.")
    if (level[own] == 1 || leave_out == "in zones") {
      shown[[class[own]]] <- rbind(shown[[class[own]]], data.frame(level = level[own], home = here))
    }
  }
  possible
}

# Weights of one group that meet the people of each area, by iterative proportional fitting (Deming & Stephan 1940), and
# Newton's method where that is slow; or a sentence that says what contradicts what.
#   profile, home  of each weight; records, level, region  of each profile; people  of each area
meet <- function(profile, home, records, level, region, people, region_of, names) {
  near <- function(sums) pmax(1e-8, 1e-14 * sums)
  n <- length(records)
  kept <- people[home] > 0
  # An area or region is full where its rows, with those within, are as many as its people: nobody of a larger region
  # lives there.
  for (own in 0:ncol(region_of)) {
    sizes <- tabulate(profile[kept], n)
    if (own == 0) {
      alone <- sizes == 1
      single <- kept & alone[profile]
      at <- seq_along(people)
      within <- total_by(records[profile[single]], home[single], length(people))
      have <- people
    } else {
      numbers <- unique(region_of[!is.na(region_of[, own]), own])
      at <- match(region_of[, own], numbers)
      first <- home[match(seq_len(n), profile)]
      inside <- level <= own
      within <- total_by(records[inside], at[first[inside]], length(numbers))
      have <- total_by(people[!is.na(at)], at[!is.na(at)], length(numbers))
    }
    beyond <- which(within > have + near(have))[1]
    if (!is.na(beyond)) {
      shown <- format(c(within[beyond], have[beyond]), digits = 15, trim = TRUE)
      if (own == 0) {
        return(paste0("area ", names[beyond], " has ", shown[1], " records, the table has ", shown[2], " people there."))
      }
      return(paste0("region ", numbers[beyond], " of level ", own, " shows ", shown[1],
                    " records with those within, the table has ", shown[2], " people there."))
    }
    full <- (within >= have - near(have) & within > 0)[at]
    full[is.na(full)] <- FALSE
    free <- level > own & !(own == 0 & alone)
    kept <- kept & !(free[profile] & full[home])
  }
  lost <- which(tabulate(profile[kept], n) == 0)[1]
  if (!is.na(lost)) {
    return(paste0("region ", region[lost], " of level ", level[lost], " shows ", records[lost],
                  " records for which the table has nobody left: its people in the areas where they can live are ",
                  "other records."))
  }
  # People beyond the records, of each part of the map whose rows have areas in common, are spread along with them.
  part <- seq_along(people)
  repeat {
    least <- as.vector(tapply(part[home[kept]], factor(profile[kept], seq_len(n)), min))
    of_area <- tapply(least[profile[kept]], home[kept], min)
    joined <- part
    joined[as.integer(names_of(of_area))] <- as.vector(of_area)
    if (identical(joined, part)) break
    part <- joined
  }
  reached <- sort(unique(home[kept]))
  parts <- unique(part[reached])
  there <- total_by(people[reached], match(part[reached], parts), length(parts))
  left <- there - total_by(records, match(least, parts), length(parts))
  with_left <- left > near(there)
  extra <- reached[with_left[match(part[reached], parts)]]
  row <- c(profile[kept], n + match(part[extra], parts[with_left]))
  column <- c(home[kept], extra)
  columns <- numeric(length(people))
  columns[reached] <- people[reached]
  found <- rake(row, column, people[column], c(records, left[with_left]), columns)
  if (is.null(found)) return("no weights meet the table in all areas.")
  weight <- numeric(length(profile))
  weight[kept] <- found[seq_len(sum(kept))]
  weight / total_by(weight, profile, n)[profile]
}

names_of <- function(table) dimnames(table)[[1]]

total_by <- function(values, at, n) {
  found <- numeric(n)
  summed <- rowsum(values, at)
  found[as.integer(rownames(summed))] <- summed
  found
}

# A matrix, as values at rows and columns, scaled so that its rows and columns have these sums; NULL where they have not
# within 1e-6. The factors of the columns are where a convex function of their logarithms is least.
rake <- function(row, column, value, rows, columns) {
  by_row <- function(x) total_by(x, row, length(rows))
  by_column <- function(x) total_by(x, column, length(columns))
  factors <- rep(1, length(columns))
  divided <- function(a, b) ifelse(b > 0, a / b, 0)
  height <- function(factors) {
    sums <- by_row(value * factors[column])
    sum((rows * log(sums))[rows > 0]) - sum((columns * log(factors))[columns > 0])
  }
  for (step in seq_len(6000)) {
    of_rows <- divided(rows, by_row(value * factors[column]))
    fitted <- value * of_rows[row] * factors[column]
    reached <- by_column(fitted)
    gap <- max(abs(reached - columns), 0)
    if (is.na(gap)) return(NULL)
    if (gap <= 1e-7) return(fitted)
    better <- if (step > 100 && step %% 100 == 1) newton(row, column, fitted, rows, columns, reached, factors, height)
    factors <- if (is.null(better)) divided(columns, divided(reached, factors)) else better
  }
  if (gap <= 1e-6) fitted
}

# Better factors, by conjugate gradients; NULL where none are found.
newton <- function(row, column, fitted, rows, columns, reached, factors, height) {
  there <- factors > 0 & columns > 0
  diagonal <- ifelse(there, reached * (1 + 1e-12), 1)
  curvature <- function(v) {
    along <- total_by(fitted * v[column], row, length(rows))
    back <- total_by(fitted * (ifelse(rows > 0, along / rows, 0))[row], column, length(columns))
    ifelse(there, diagonal * v - back, v)
  }
  direction <- numeric(length(columns))
  residual <- ifelse(there, columns - reached, 0)
  search <- preconditioned <- residual / diagonal
  for (step in seq_len(2000)) {
    if (sqrt(sum(residual^2)) <= 1e-8) break
    bent <- curvature(search)
    length <- sum(residual * preconditioned) / sum(search * bent)
    direction <- direction + length * search
    changed <- residual - length * bent
    next_one <- changed / diagonal
    search <- next_one + sum(changed * next_one) / sum(residual * preconditioned) * search
    residual <- changed
    preconditioned <- next_one
  }
  if (!all(is.finite(direction))) return(NULL)
  now <- height(factors)
  for (halved in 0:30) {
    stepped <- ifelse(there, factors * exp(direction / 2^halved), factors)
    if (all(is.finite(stepped)) && isTRUE(height(stepped) <= now)) return(stepped)
  }
  NULL
}

shown_below <- function(shown, class, level) {
  there <- shown[[class]]
  there$home[there$level < level]
}

# Which combination each row of a data frame has, numbered from 1; a missing value is one of its own.
number_of <- function(columns) {
  keys <- do.call(paste, c(lapply(columns, function(one) match(one, unique(one))), sep = " "))
  match(keys, unique(keys))
}

on_map <- function(release, found) {
  found <- cbind(setNames(data.frame(as_text(release$areas[[release$area]])), release$area), found)
  rownames(found) <- NULL
  if (inherits(release$areas, "sf")) sf::st_sf(found, geometry = sf::st_geometry(release$areas)) else found
}

file_in <- function(folder, name) {
  there <- list.files(folder, paste0("^", name, "\\.(csv|gpkg)$"), full.names = TRUE)
  need(length(there) == 1, paste0("The folder ", folder, " must have one of ", name, ".csv and ", name, ".gpkg."))
  there
}

# A table; codes such as 007 stay text, and so do those fields of a CSV file that codes names, all where it is NULL.
read_table <- function(given, missing = "", codes = character()) {
  if (is.data.frame(given)) return(given)
  if (grepl("\\.gpkg$", given, ignore.case = TRUE)) return(sf::st_read(given, quiet = TRUE, stringsAsFactors = FALSE))
  found <- read.csv(given, colClasses = "character", na.strings = missing, check.names = FALSE,
                    fileEncoding = "UTF-8-BOM")
  number <- "^-?(0|[1-9][0-9]{0,14})([.][0-9]+)?$"
  read <- if (!is.null(codes)) setdiff(names(found), codes)
  found[read] <- lapply(found[read], function(one) {
    there <- unique(one[!is.na(one)])
    # Texts that would be the same number, such as 1.5 and 1.50, are codes, too.
    plain <- length(there) && all(grepl(number, there)) && !anyDuplicated(as.numeric(there))
    if (plain) as.numeric(one) else one
  })
  found
}

# Whether the description beside released records says that each row stands for several.
comes_with_counts <- function(given) {
  described <- if (is.character(given)) file.path(dirname(given), "datapackage.json") else ""
  file.exists(described) && any(grepl('"role": "count"', readLines(described, encoding = "UTF-8"), fixed = TRUE))
}

as_text <- function(values) {
  if (is.numeric(values)) format(values, trim = TRUE, scientific = FALSE, digits = 15) else as.character(values)
}

need <- function(holds, sentence) if (!isTRUE(holds)) stop(sentence, call. = FALSE)
