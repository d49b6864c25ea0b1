/**
 * The statistics of real traces: made from a folder of traces by `measure-traces.ts`, kept in `shape.json`, and read by
 * the generator.
 */
import { readFileSync } from "node:fs"

/** Sizes at 0, 5, 10 … 100 per cent of the lines, in bytes. Between them the generator goes straight. */
export type Quantiles = ReadonlyArray<number>

/** The lines of one kind in one source. */
export interface KindShape {
  readonly kind: string
  /** Share of the source's lines. */
  readonly share: number
  /** Different actions in the source. */
  readonly actions: number
  readonly argsBytes: Quantiles
  /** Share of the lines that have a result, and the sizes of those. */
  readonly resultShare: number
  readonly resultBytes: Quantiles
  readonly errorShare: number
}

/** One data set. */
export interface SourceShape {
  readonly source: string
  /** Share of all lines. */
  readonly share: number
  readonly agents: number
  readonly stepsPerRun: Quantiles
  readonly labelsBytes: Quantiles
  readonly taskIdBytes: Quantiles
  /** Shares of the lines that have these. */
  readonly usageShare: number
  readonly latencyShare: number
  readonly nonAsciiShare: number
  readonly kinds: ReadonlyArray<KindShape>
}

/** The shape of all sources. */
export interface TraceShape {
  readonly lines: number
  readonly runs: number
  readonly sources: ReadonlyArray<SourceShape>
}

/** Quantiles kept of each size. */
export const QUANTILES = 21

/** Reads the kept shape. */
export const readShape = (): TraceShape =>
  JSON.parse(readFileSync(new URL("./shape.json", import.meta.url), "utf8")) as TraceShape
