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
#
# The same as vbas.core.analysis.read_release in Python, which meets census tables (margins) too.

# A release: a folder with released_records, crosswalk and areas (.csv or .gpkg), or the three as paths or data frames.
#   area        field with the identifier of the area, in the areas and the crosswalk; NULL: the crosswalk's only other
#   population  field of the areas with their people
#   count       field of the records that says how many each row stands for; NULL: one each
#   leave_out   which areas a row cannot live in, by how the release was made: "none"; "where level 1 shows the class",
#               for a nested release whose level 1 is the areas; "in zones", if no small count follows from it
#   quasi_identifiers  the fields that make a class, where areas are left out
read_release <- function(records, crosswalk = NULL, areas = NULL, area = NULL, population = "population",
                         count = NULL, leave_out = "none", quasi_identifiers = character()) {
  stopifnot(leave_out %in% c("none", "where level 1 shows the class", "in zones"))
  if (is.character(records) && dir.exists(records)) {
    folder <- records
    records <- file_in(folder, "released_records")
    if (is.null(crosswalk)) crosswalk <- file_in(folder, "crosswalk")
    if (is.null(areas)) areas <- file_in(folder, "areas")
  }
  records <- read_table(records)
  crosswalk <- read_table(crosswalk)
  areas <- read_table(areas)
  fields <- grep("^vbas_region(_[0-9]+)?$", names(crosswalk), value = TRUE)
  if (length(fields) > 1) fields <- paste0("vbas_region_", seq_along(fields))
  if (is.null(area)) area <- setdiff(names(crosswalk), c(fields, "fid", "geom", "geometry"))
  need(length(area) == 1, "The crosswalk has several further fields: say in area which holds the areas.")
  need(all(fields %in% names(crosswalk)) && length(fields), "The crosswalk lacks a level, or has none.")
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
                 profile = rep(seq_along(homes), lengths(homes)), home = unlist(homes), weight = unlist(weights)),
            class = "vbas_release")
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

# A table; codes such as 007 stay text.
read_table <- function(given) {
  if (is.data.frame(given)) return(given)
  if (grepl("\\.gpkg$", given, ignore.case = TRUE)) return(sf::st_read(given, quiet = TRUE, stringsAsFactors = FALSE))
  found <- read.csv(given, colClasses = "character", na.strings = "", check.names = FALSE, fileEncoding = "UTF-8-BOM")
  found[] <- lapply(found, function(one) {
    number <- "^-?(0|[1-9][0-9]*)([.][0-9]+)?$"
    if (any(!is.na(one)) && all(grepl(number, one[!is.na(one)]))) as.numeric(one) else one
  })
  found
}

as_text <- function(values) {
  if (is.numeric(values)) format(values, trim = TRUE, scientific = FALSE, digits = 15) else as.character(values)
}

need <- function(holds, sentence) if (!isTRUE(holds)) stop(sentence, call. = FALSE)
