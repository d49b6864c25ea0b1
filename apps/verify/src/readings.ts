/** Lists what is read out of a checked pack besides its report. One pass serves all that was requested. */
import type { Report } from "@flyball/evidence"
import type { CheckRequest } from "./check-pack.ts"
import type { Extras } from "./extras.ts"
import { readPackRecords, type RecordReader } from "./replay/pack-records.ts"

/** The result of a reading. */
export interface Found {
  readonly extras?: Partial<Extras>
  /** Changes the report on the pack. */
  readonly effect?: (report: Report) => Report
}

/** Begins a reading of a checked pack. Without `records` nothing is to be read: the pack does not allow it. */
export type BeginReading = (
  request: CheckRequest,
  report: Report
) => Promise<{ readonly records?: RecordReader; readonly end: () => Found | Promise<Found> }>

interface Reading {
  readonly wanted: (request: CheckRequest) => boolean
  /** Loads its code on demand: other runs do not wait for it. */
  readonly begin: () => Promise<BeginReading>
}

/** In the order in which they change the report. */
const readings: ReadonlyArray<Reading> = [
  {
    wanted: ({ summary }) => summary !== "none",
    begin: async () => (await import("./summary/summarize-pack.ts")).readSummary
  },
  {
    wanted: ({ certificate = null }) => certificate !== null,
    begin: async () => (await import("./certificate/certify-pack.ts")).readCertificate
  },
  {
    wanted: ({ usage = null }) => usage !== null,
    begin: async () => (await import("./usage/usage-pack.ts")).readUsage
  },
  {
    wanted: ({ answer = null }) => answer !== null,
    begin: async () => (await import("./answer/answer-pack.ts")).readAnswerAgain
  },
  { wanted: ({ bodies }) => bodies, begin: async () => (await import("./bodies/compare-bodies.ts")).readBodies },
  { wanted: ({ replay }) => replay, begin: async () => (await import("./replay/replay-pack.ts")).readReplay }
]

/** The readings that were requested. */
export const wantedReadings = (request: CheckRequest): ReadonlyArray<Reading> =>
  readings.filter(({ wanted }) => wanted(request))

/** Reads a checked pack once for all of them. Fails: as readings of the packs do. */
export const readAll = async (
  wanted: ReadonlyArray<Reading>,
  request: CheckRequest,
  report: Report
): Promise<ReadonlyArray<Found>> => {
  const begun = await Promise.all(wanted.map(async ({ begin }) => (await begin())(request, report)))
  const readers = begun.flatMap(({ records }) => records ?? [])
  if (readers.length > 0) await readPackRecords(request.pack.content, ...readers)
  return Promise.all(begun.map(({ end }) => end()))
}
