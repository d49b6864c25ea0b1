/**
 * Trace lines without end, shaped like the real ones: runs of many agents at once, each with the sizes, kinds, parts
 * and errors of its data set.
 *
 * The same seed and first number give the same lines, whatever number of them is taken.
 */
import { below, type Random, randomOf, sizeOf, weighted } from "./random.ts"
import { type KindShape, readShape, type SourceShape } from "./shape.ts"
import { makeTexts, type Texts } from "./texts.ts"

/** The form of decision ids, by which an import is idempotent. */
export type Ids = "ordered" | "random"

/** Runs that are under way at the same time. */
const OPEN_RUNS = 64
/** Time of the first line, and between two lines. */
const START_AT_MS = Date.UTC(2025, 0, 1)
const STEP_MS = 137

interface Run {
  readonly source: SourceShape
  readonly kindShares: ReadonlyArray<number>
  readonly id: string
  readonly number: number
  readonly steps: number
  readonly head: string
  readonly labels: string
  next: number
}

/**
 * The lines from number `first` on, each with its line end. Ordered ids are above those of all lines before `first`.
 */
export function* generateLines(seed: number, first: number, ids: Ids): Generator<string, never> {
  const random = randomOf(seed + first)
  const texts = makeTexts(random)
  const { sources } = readShape()
  // A source of long runs begins fewer of them.
  const weights = sources.map(
    ({ share, stepsPerRun }) => share / (stepsPerRun.reduce((sum, steps) => sum + steps, 0) / stepsPerRun.length)
  )
  let runs = first
  const begin = (): Run => beginRun(random, texts, sources[weighted(random, weights)]!, runs++)
  const open = Array.from({ length: OPEN_RUNS }, begin)
  for (let atMs = START_AT_MS + first * STEP_MS; ; atMs += STEP_MS) {
    const slot = below(random, OPEN_RUNS)
    const run = open[slot]!
    yield lineOf(random, texts, run, ids, atMs)
    if (++run.next >= run.steps) open[slot] = begin()
  }
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0")
const randomHex = (random: Random, words: number): string =>
  Array.from({ length: words }, () => hex(below(random, 4_294_967_296), 8)).join("")

const beginRun = (random: Random, texts: Texts, source: SourceShape, number: number): Run => {
  const id = `${source.source}-${randomHex(random, 2)}`
  const task = texts.cut(random, sizeOf(random, source.taskIdBytes), true)
  const agent = `${source.source}.agent-${below(random, source.agents)}`
  const labels = Math.max(2, sizeOf(random, source.labelsBytes))
  return {
    source,
    kindShares: source.kinds.map(({ share }) => share),
    id,
    number,
    steps: Math.max(1, sizeOf(random, source.stepsPerRun)),
    head:
      `"source":"${source.source}","run_id":"${id}","task_id":${JSON.stringify(task)},` +
      `"agent":"${agent}","model":"model-${below(random, 12)}"`,
    labels:
      labels < 20
        ? "{}"
        : `{"task_reward":${below(random, 2)},"note":${JSON.stringify(texts.cut(random, labels - 27, true))}}`,
    next: 0
  }
}

const lineOf = (random: Random, texts: Texts, run: Run, ids: Ids, atMs: number): string => {
  const { source } = run
  const shape = source.kinds[weighted(random, run.kindShares)]!
  const ascii = random() >= source.nonAsciiShare
  const id = ids === "ordered" ? `${hex(run.number, 20)}${hex(run.next, 12)}` : randomHex(random, 4)
  const usage =
    random() < source.usageShare
      ? `,"tokens_in":${below(random, 12_000)},"tokens_out":${below(random, 400)},"cost_usd":0.${sixDigits(random)}`
      : ""
  const latency = random() < source.latencyShare ? `,"latency_ms":${below(random, 9_000)}` : ""
  const result =
    random() < shape.resultShare ? JSON.stringify(texts.cut(random, sizeOf(random, shape.resultBytes), ascii)) : "null"
  const status = random() < shape.errorShare ? "error" : "ok"
  const end = run.next === run.steps - 1 ? ',"final":true' : ""
  return (
    `{"v":1,"id":"${id}",${run.head},"step":${run.next},"ts":"${new Date(atMs).toISOString()}",` +
    `"ts_source":"source","kind":"${shape.kind}",${callOf(random, texts, shape, ascii)}` +
    `,"result":${result},"status":"${status}"${usage}${latency}${end},"labels":${run.labels}}\n`
  )
}

const sixDigits = (random: Random): string => String(below(random, 1_000_000)).padStart(6, "0")

const callOf = (random: Random, texts: Texts, { actions, argsBytes, kind }: KindShape, ascii: boolean): string => {
  const bytes = sizeOf(random, argsBytes)
  const action = kind === "message" ? "respond" : `action_${below(random, actions)}`
  if (bytes < 20) return `"action":"${action}","args":{}`
  return `"action":"${action}","args":{"content":${JSON.stringify(texts.cut(random, bytes - 14, ascii))}}`
}
