/** The embedding client of a group of rows: each call runs the operation of its row. Spec: house section 3. */
import {
  type Decoder,
  detailItem,
  type Filter,
  type Flat,
  type InfoOf,
  type InputOf,
  InvalidInput,
  type Struct
} from "@flyball/contract"
import type { AnyEndpoint, Body, Endpoint, Group, Params, ParamValues, Query, Success } from "@flyball/contract/http"
import { Effect } from "effect"
import type { AnyOperation, OperationCaller, OperationsOf, StreamStep } from "../../capability/operation.ts"
import { everyUnit } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { governorError } from "../../foundation/value-or-throw.ts"
import type { GovernorServices } from "../governor-layer.ts"
import { writerOf, type Client } from "./client.ts"
import type { ActOptions } from "./call-options.ts"
import { decoded, decodeDecisions, query } from "./input.ts"

type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never

/** Path parameters first: the one of a path with one, an object of all where there are more. */
type PathArgs<P extends Params> = [keyof P] extends [never]
  ? []
  : IsUnion<keyof P> extends true
    ? [of: ParamValues<P>]
    : [id: ParamValues<P>[keyof P]]

type BodyArgs<B> =
  B extends Body<any, infer S, infer O> ? (O extends true ? [input?: InputOf<S>] : [input: InputOf<S>]) : []

type QueryArgs<Q> =
  Q extends Query<any, infer S>
    ? S extends Struct
      ? {} extends Filter<S>
        ? [filter?: Flat<Filter<S>>]
        : [filter: Flat<Filter<S>>]
      : never
    : []

/** Options of a call; of one that replaces a versioned value, the version that it expects. */
type OptionsOf<S> = S extends { readonly form: "versioned" }
  ? ActOptions & { readonly ifVersion?: number | undefined }
  : ActOptions

type AnswerTo<S> = S extends { readonly form: { readonly data: infer D } }
  ? AsyncIterable<InfoOf<D>>
  : S extends { readonly schema: infer T }
    ? Promise<InfoOf<T>>
    : never

type CallOf<E> =
  E extends Endpoint<infer P extends Params, infer Q, infer B, any, infer S extends Success>
    ? (...args: [...PathArgs<P>, ...BodyArgs<B>, ...QueryArgs<Q>, options?: OptionsOf<S>]) => AnswerTo<S>
    : never

/** Calls of a group of rows: path parameters, then body, then query, then options. */
export type ClientOf<G> = { readonly [K in keyof G]: CallOf<G[K]> }

/**
 * The embedding client of a group. `own` is the writer of calls that name none.
 *
 * - Fails: rejects with `GovernorError`, with the code that HTTP answers.
 */
export const clientOf = <const G extends Group>(
  rows: G,
  operations: OperationsOf<G, GovernorServices>,
  client: Client,
  own: Writer
): ClientOf<G> =>
  Object.fromEntries(
    Object.keys(rows).map((name) => [
      name,
      callOf(rows[name]!, operations[name] as unknown as AnyOperation<GovernorServices>, client, own)
    ])
  ) as unknown as ClientOf<G>

type CallArgs = ReadonlyArray<unknown>
type Options = (ActOptions & { readonly ifVersion?: number | undefined }) | null | undefined

const callOf = (row: AnyEndpoint, operation: AnyOperation<GovernorServices>, client: Client, own: Writer) => {
  const expected = row.params as Params
  const names = Object.keys(expected)
  const begin = (args: CallArgs) => {
    const rest = [...args]
    const params = names.length === 0 ? {} : paramsOf(expected, names, rest.shift())
    const body = row.body === null ? Effect.succeed(null) : bodyOf(row.body as Body, rest.shift())
    const filter = row.query === null ? {} : given(rest.shift())
    const options = rest.shift() as Options
    const caller = new HostCaller(writerOf(own, options?.writer), options)
    const effect = Effect.flatMap(body, (input) =>
      Effect.flatMap(queryOf(row.query as Query | null, filter), (read) =>
        operation({ params: params as never, query: read as never, body: input as never }, caller)
      )
    )
    return { effect, options }
  }
  const run = async (args: CallArgs) => {
    const { effect, options } = begin(args)
    return client.run(effect, options)
  }
  if (typeof row.success.form === "object")
    return (...args: CallArgs) =>
      client.stream(
        () => run(args).then((steps) => dataOf(steps as AsyncIterable<StreamStep<unknown>>)),
        args.at(-1) as Options
      )
  if (row.success.form !== "plain")
    return (...args: CallArgs) => run(args).then((answered) => (answered as { readonly value: unknown }).value)
  return (...args: CallArgs) => run(args)
}

/** No filter is an empty one; null is none of the two. */
const given = (filter: unknown): unknown => (filter === undefined ? {} : filter)

async function* repeated<A>(step: () => Promise<A>): AsyncGenerator<A> {
  for (;;) yield await step()
}

async function* dataOf<T>(steps: AsyncIterable<StreamStep<T>>): AsyncGenerator<T> {
  for await (const { events } of steps) for (const { data } of events) yield data
}

/** A host without types may pass anything as an id. */
const paramsOf = (
  expected: Params,
  names: ReadonlyArray<string>,
  given: unknown
): { readonly [name: string]: unknown } => {
  const [first] = names
  const params = names.length === 1 ? { [first!]: given } : isObject(given) ? given : {}
  const at = names.findIndex((name) => !isOfParam(expected[name]!, params[name]))
  if (at < 0) return params
  const text = expected[names[at]!]!.plain === "string"
  throw governorError(
    new InvalidInput({
      detail: [
        text
          ? detailItem(["path", String(at)], "string_type", "Input should be a valid string")
          : detailItem(["path", names[at]!], "int_type", "Input should be a whole number from 0", params[names[at]!])
      ]
    })
  )
}

const isOfParam = ({ plain }: Params[string], value: unknown): boolean =>
  plain === "string" ? typeof value === "string" : Number.isSafeInteger(value) && (value as number) >= 0

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null

/** A body that is decoded in slices is a decision, or a list of them. */
const bodyOf = (body: Body, given: unknown): Effect.Effect<unknown, InvalidInput> =>
  body.decodeInSlices === undefined
    ? decoded(
        ((value: unknown) => body.decode(value)) as Decoder<unknown>,
        given === undefined && body.optional ? {} : given,
        body.past
      )
    : decodeDecisions(given)

const queryOf = (row: Query | null, filter: unknown): Effect.Effect<unknown, InvalidInput> =>
  row === null
    ? Effect.succeed({})
    : query(((value: unknown) => row.decode(value as { readonly [name: string]: string })) as Decoder<unknown>)(
        filter as object
      )

/** Longest wait of a step of a stream in process, after which its signal counts. Unit: milliseconds. */
const STRETCH_MS = 5_000

const neverAborted = new AbortController().signal

/** A host is its own caller: it may do everything, and answers for the people that it names. */
class HostCaller implements OperationCaller {
  readonly scope = everyUnit
  readonly may = () => everyUnit
  readonly maxTier = "L4"
  readonly afterEvent = null
  readonly writer: OperationCaller["writer"]
  readonly own = null
  readonly grants: OperationCaller["grants"]
  readonly email: string | null
  readonly ifVersion: number | null
  readonly asker: string
  readonly knows = () => false
  readonly account = null
  readonly received = null
  readonly #signal: AbortSignal | null

  constructor(writer: Writer, options: Options) {
    this.writer = Effect.succeed(writer)
    this.asker = writer.id
    this.grants = (options?.grants as OperationCaller["grants"] | undefined) ?? "any"
    this.email = options?.email ?? null
    this.ifVersion = options?.ifVersion ?? null
    this.#signal = options?.signal ?? null
  }

  get signal(): AbortSignal {
    return this.#signal ?? neverAborted
  }

  readonly follow: OperationCaller["follow"] = (step) => repeated(() => Effect.runPromise(step(this, STRETCH_MS)))

  readonly whileAdmitted: OperationCaller["whileAdmitted"] = (waitMs, step) =>
    Effect.map(step(this, waitMs), (found) => ({ found, caller: this }))
}
