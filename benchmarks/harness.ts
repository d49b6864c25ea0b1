/** Rounds that alternate limit and subject in one run, medians, and the one line form of `--json`. */

/** One measured line. `ratio` compares with `limit`; null where the goal is absolute. */
export interface Line {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly limit: number | null
  readonly ratio: number | null
  readonly goal: string
  readonly met: boolean
}

/** Members of a line whose goal is absolute. */
export const absolute = { limit: null, ratio: null } satisfies Partial<Line>

/** A benchmark: a name for the command line, and what it measures. */
export interface Benchmark {
  readonly name: string
  readonly about: string
  readonly run: (say: (text: string) => void) => Promise<ReadonlyArray<Line>>
}

/** The middle value. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value below which this share of the values lies. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/** How long one call takes, in milliseconds. */
export const timed = async (body: () => unknown): Promise<number> => {
  const startedAt = performance.now()
  await body()
  return performance.now() - startedAt
}

/** Result of alternating rounds. */
export interface Compared {
  readonly limitMs: number
  readonly subjectMs: number
  readonly ratio: number
}

/** Runs limit and subject in turn, see {@link alternateTimes}; each call is timed whole. */
export const alternate = (rounds: number, limit: () => unknown, subject: () => unknown): Promise<Compared> =>
  alternateTimes(
    rounds,
    () => timed(limit),
    () => timed(subject)
  )

/** A round: limit and subject right after one another. */
export interface RoundTimes {
  readonly limitMs: number
  readonly subjectMs: number
}

/**
 * Runs limit and subject in turn, one warm-up pair first, and answers {@link compared}. Each call answers its own
 * milliseconds.
 */
export const alternateTimes = async (
  rounds: number,
  limit: () => Promise<number>,
  subject: () => Promise<number>
): Promise<Compared> => compared(await pairTimes(rounds, limit, subject))

/** The pairs of {@link alternateTimes}, for those who gather them over several processes. */
export const pairTimes = async (
  rounds: number,
  limit: () => Promise<number>,
  subject: () => Promise<number>
): Promise<ReadonlyArray<RoundTimes>> => {
  const pairs: Array<RoundTimes> = []
  for (let round = -1; round < rounds; round++) {
    const limitFirst = round % 2 === 0
    const first = await (limitFirst ? limit : subject)()
    const second = await (limitFirst ? subject : limit)()
    if (round >= 0)
      pairs.push(limitFirst ? { limitMs: first, subjectMs: second } : { limitMs: second, subjectMs: first })
  }
  return pairs
}

/**
 * Both medians, and the median of the pairwise ratios limit/subject (1 = as fast as the limit). Pairs, because the
 * machine's speed drifts.
 */
export const compared = (pairs: ReadonlyArray<RoundTimes>): Compared => ({
  limitMs: median(pairs.map(({ limitMs }) => limitMs)),
  subjectMs: median(pairs.map(({ subjectMs }) => subjectMs)),
  ratio: median(pairs.map(({ limitMs, subjectMs }) => limitMs / subjectMs))
})

/** Rounds for people: three significant digits. */
export const figure = (value: number): number => Number(value.toPrecision(3))
