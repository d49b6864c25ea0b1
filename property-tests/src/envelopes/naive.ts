/**
 * A second reading of `SPEC.md`, as a walk over the JSON: no boxes, no grid, nothing shared with the evaluator.
 *
 * It takes for granted that the envelope is well-formed.
 */

type Scalar = string | number | boolean

/** Values by name; undefined is absent. */
export type NaiveValues = { readonly [name: string]: Scalar | undefined }

interface NaiveSignal {
  readonly values?: ReadonlyArray<string>
  readonly max?: number
  readonly on_missing?: Scalar
}

interface NaiveCondition {
  readonly any?: ReadonlyArray<NaiveCondition>
  readonly all?: ReadonlyArray<NaiveCondition>
  readonly not?: NaiveCondition
  readonly signal?: string
  readonly meter?: string
}

interface NaiveEnvelope {
  readonly signals: { readonly [name: string]: NaiveSignal }
  readonly derived?: { readonly [name: string]: { readonly fn: string; readonly args: ReadonlyArray<string> } }
  readonly params?: { readonly [name: string]: unknown }
  readonly rules: ReadonlyArray<{
    readonly id: string
    readonly outcome: string
    readonly when: ReadonlyArray<NaiveCondition>
    readonly unless?: ReadonlyArray<NaiveCondition>
  }>
  readonly default: { readonly outcome: string }
}

type Meters = { readonly [id: string]: number }

/** Expected verdict of the evaluator. */
export interface NaiveVerdict {
  readonly outcome: string
  readonly rule: string
  readonly holds: ReadonlyArray<boolean>
}

const order = ["allow", "allow_with_notice", "require_review", "deny", "halt"]

/** The verdict of one envelope and which of its rules hold. `meters` are what they read after the action. */
export const naive = (json: unknown, values: NaiveValues, meters: Meters): NaiveVerdict => {
  const envelope = json as NaiveEnvelope
  const all: { [name: string]: Scalar | undefined } = { ...values }
  for (const [name, signal] of Object.entries(envelope.signals)) all[name] ??= signal.on_missing
  for (const [name, { args, fn }] of Object.entries(envelope.derived ?? {}))
    all[name] = derive(
      fn,
      args.map((arg) => all[arg]),
      args.map((arg) => envelope.signals[arg]!)
    )
  const every = (list: ReadonlyArray<NaiveCondition>): boolean =>
    list.every((one) => condition(envelope, one, all, meters))
  const holds = envelope.rules.map((rule) => every(rule.when) && !(rule.unless !== undefined && every(rule.unless)))
  let outcome = ""
  let id = ""
  envelope.rules.forEach((rule, i) => {
    if (holds[i] && order.indexOf(rule.outcome) > order.indexOf(outcome)) [outcome, id] = [rule.outcome, rule.id]
  })
  return id === "" ? { outcome: envelope.default.outcome, rule: "@default", holds } : { outcome, rule: id, holds }
}

const condition = (envelope: NaiveEnvelope, one: NaiveCondition, values: NaiveValues, meters: Meters): boolean => {
  const inner = (other: NaiveCondition): boolean => condition(envelope, other, values, meters)
  if (one.any !== undefined) return one.any.some(inner)
  if (one.all !== undefined) return one.all.every(inner)
  if (one.not !== undefined) return !inner(one.not)
  const value = one.meter === undefined ? values[one.signal!] : meters[one.meter]
  const [op, right] = Object.entries(one as { readonly [name: string]: unknown }).find(
    ([name]) => name !== "signal" && name !== "meter"
  )!
  if (op === "present") return (value !== undefined) === right
  return (
    value !== undefined &&
    passes(
      op.replace("after_", ""),
      value,
      right,
      (x) => (typeof x === "object" && x !== null && "param" in x ? envelope.params![String(x.param)] : x),
      envelope.signals[one.signal ?? ""]?.values ?? []
    )
  )
}

const passes = (
  op: string,
  value: Scalar,
  right: unknown,
  constant: (x: unknown) => unknown,
  members: ReadonlyArray<string>
): boolean => {
  const rank = (x: unknown): number => (typeof x === "string" ? members.indexOf(x) : Number(x))
  const list = [Array.isArray(right) ? right.map(constant) : constant(right)].flat()
  switch (op) {
    case "in":
      return list.includes(value)
    case "nin":
      return !list.includes(value)
    case "eq":
      return value === constant(right)
    case "is":
      return value === right
    case "prefix":
      return String(value).startsWith(String(constant(right)))
    case "lt":
      return rank(value) < rank(constant(right))
    case "lte":
      return rank(value) <= rank(constant(right))
    case "gt":
      return rank(value) > rank(constant(right))
    case "gte":
      return rank(value) >= rank(constant(right))
    case "between":
      return rank(value) >= rank(list[0]) && rank(value) <= rank(list[1])
    default:
      throw new Error(op)
  }
}

const derive = (
  fn: string,
  args: ReadonlyArray<Scalar | undefined>,
  signals: ReadonlyArray<NaiveSignal>
): number | undefined => {
  if (args.includes(undefined)) return undefined
  const numbers = args.map((arg) => BigInt(Number(arg)))
  const [a, b] = [numbers[0]!, numbers[1]!]
  const low = (x: bigint, y: bigint): bigint => (x < y ? x : y)
  switch (fn) {
    case "ratio_bp@1": {
      const greatest = low(BigInt(signals[0]!.max!) * 10_000n, 2n ** 53n - 2n)
      return Number(b === 0n ? (a === 0n ? 0n : greatest) : low((a * 10_000n) / b, greatest))
    }
    case "difference@1":
      return Number(a - b)
    case "sum@1":
      return Number(numbers.reduce((x, y) => x + y))
    case "product@1":
      return Number(a * b)
    case "min@1":
      return Number(numbers.reduce(low))
    case "max@1":
      return Number(numbers.reduce((x, y) => (x > y ? x : y)))
    default:
      throw new Error(fn)
  }
}
