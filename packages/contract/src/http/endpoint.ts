/**
 * An endpoint as plain data that the dispatcher, the tests and the interface description read. Decision 0003 says
 * why it is not Effect's HttpApi.
 */
import { Result, Schema } from "effect"
import { type PastTimes, pastTimes } from "../foundation/ahead.ts"
import { type Decoded, decode } from "../foundation/decode.ts"
import { id, integerParam } from "../foundation/fields.ts"
import { idPattern, idPrefixes, type IdKind } from "../foundation/ids.ts"
import { BODY_LIMIT_BYTES } from "../foundation/limits.ts"
import { InvalidInput, type Refusal, type RefusalTag } from "../refusals.ts"
import type { MonthlyResource, OperationName } from "../platform/plans.ts"
import type { AccessRow, Caller } from "./access.ts"

/** A path parameter. */
export interface Param<A> {
  /** The form of its text, for the interface description. */
  readonly schema: Schema.Top
  /** The type that a host passes in its place. */
  readonly plain: "string" | "number"
  readonly decode: (text: string, name: string) => Result.Result<A, Refusal>
  /** An example that has the right form, for tests and descriptions. */
  readonly example: string
}

/** An id in a path. One that has not the form of an id is one that does not exist. */
export const idParam = (kind: IdKind, missing: () => Refusal): Param<string> => ({
  schema: id(kind),
  plain: "string",
  decode: (text) => (idPattern(kind).test(text) ? Result.succeed(text) : Result.fail(missing())),
  example: `${idPrefixes[kind]}_${"0".repeat(26)}`
})

const seq = integerParam()
const decodeSeq = decode(seq)

/** A record's seq in a path. */
export const seqParam: Param<number> = {
  schema: seq,
  plain: "number",
  decode: (text, name) => Result.mapError(decodeSeq(text, "path", [name]), (detail) => new InvalidInput({ detail })),
  example: "0"
}

/** A JSON body: `A` decoded, `S` its schema, `O` whether it may be left out. */
export interface Body<A = unknown, S extends Schema.Top = Schema.Top, O extends boolean = boolean> {
  readonly schema: S
  /** Decodes a value. The caller decides which members are required; without one, the interface description does. */
  readonly decode: (value: unknown, caller?: Caller | null) => Decoded<A>
  /** The same, yielding where others may have their turn, where a body may take long; left out where none does. */
  readonly decodeInSlices?: (value: unknown) => Generator<void, Decoded<A>, void>
  /** Problems that are listed beside those of the shape. */
  readonly past?: PastTimes
  readonly limitBytes: number
  /** A request without a body is one with an empty object. */
  readonly optional: O
  /** Values that are kept as the bytes received where they have no exact form. */
  readonly keepRaw: ((path: ReadonlyArray<string | number>) => boolean) | null
  /** The body in place of JSON that is streamed to a file; left out where there is none. */
  readonly file?: FileBody
}

/** A body that is streamed to a file. Unit of the limit: bytes. */
export interface FileBody {
  readonly media: ReadonlyArray<string>
  readonly limitBytes: number
}

/** A body that was streamed to a file, which is there until the request has its answer. */
export class ReceivedFile {
  readonly path: string
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
  readonly media: string
  constructor(of: Pick<ReceivedFile, "path" | "bytes" | "sha256" | "media">) {
    this.path = of.path
    this.bytes = of.bytes
    this.sha256 = of.sha256
    this.media = of.media
  }
}

/** A body that is a file, or JSON of one shape. */
export const fileOrJsonBody = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  { limitBytes, ...file }: FileBody & { readonly json: number }
): Body<S["Type"] | ReceivedFile, S, false> => ({
  ...jsonBody(schema, { limitBytes: file.json }),
  file: { media: file.media, limitBytes }
})

/** A body of one shape. */
export const jsonBody = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  options: { readonly limitBytes?: number; readonly keepRaw?: (path: ReadonlyArray<string | number>) => boolean } = {}
): Body<S["Type"], S, false> => {
  const decoder = decode(schema)
  return {
    schema,
    decode: (value) => decoder(value, "body"),
    past: pastTimes(schema),
    limitBytes: options.limitBytes ?? BODY_LIMIT_BYTES,
    optional: false,
    keepRaw: options.keepRaw ?? null
  }
}

/** A body of one shape, from some callers of one that asks for more. The interface description shows the first. */
export const bodyBy = <A, S extends Schema.Top, O extends boolean>(
  body: Body<A, S, O>,
  stricter: Body<A>,
  asksMore: (caller: Caller) => boolean
): Body<A, S, O> => ({
  ...body,
  decode: (value, caller = null) => (caller !== null && asksMore(caller) ? stricter : body).decode(value)
})

/** A body of one shape that may be left out. */
export const optionalBody = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S
): Body<S["Type"], S, true> => ({ ...jsonBody(schema), optional: true })

/** A query. Parameters that an endpoint does not know are refused. Spec: api.md, Conventions. */
export interface Query<A = unknown, S extends Schema.Top = Schema.Top> {
  readonly schema: S
  readonly fields: { readonly [name: string]: Schema.Top }
  readonly names: ReadonlyArray<string>
  readonly decode: (value: { readonly [name: string]: string }) => Decoded<A>
}

/** A query of one shape; each parameter at most once. */
export const queryOf = <
  S extends Schema.Top & { readonly DecodingServices: never; readonly fields: { readonly [name: string]: Schema.Top } }
>(
  schema: S
): Query<S["Type"], S> => {
  const decoder = decode(schema)
  return {
    schema,
    fields: schema.fields,
    names: Object.keys(schema.fields),
    decode: (value) => decoder(value, "query")
  }
}

/** The parameters of a path by name. */
export type Params = { readonly [name: string]: Param<unknown> }
/** Values of path parameters by name. */
export type ParamValues<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer A> ? A : never }

/**
 * The form of a success. `plain`: the value of its schema, or bytes. `versioned`: the value with a version, which HTTP
 * carries as ETag and If-Match. `tagged`: the value with a tag, which HTTP carries as ETag and If-None-Match. `passed`:
 * the answer of an upstream, its bytes or its stream. Events: a stream of events of one name, each with data of a
 * schema.
 */
export type Form = "plain" | "versioned" | "tagged" | "passed" | { readonly event: string; readonly data: Schema.Top }

/** The success of an endpoint. `M`: every media type that an answer may have; handlers are held to it and to `S`. */
export interface Success<
  S extends Schema.Top | null = Schema.Top | null,
  M extends string = string,
  F extends Form = Form
> {
  readonly status: 200 | 201
  /** Null where only bytes are answered. Beside another `media` than JSON, the answer to `Accept: application/json`. */
  readonly schema: S
  /** Default media type of an answer. */
  readonly media: M
  /** Schema of one line where `Accept` can name {@link LINES_MEDIA}; null where it cannot. */
  readonly line: Schema.Top | null
  readonly form: F
  /** Extension of the file that holds these bytes, behind the id of the path; null where they are no file. */
  readonly extension: string | null
}

/** Media type of JSON. */
export const JSON_MEDIA = "application/json"

/** Media type of JSON values, one a line. */
export const LINES_MEDIA = "application/x-ndjson"

/** Media type of server-sent events. */
export const EVENT_STREAM_MEDIA = "text/event-stream"

/** JSON of this shape. */
export const json = <S extends Schema.Top>(status: 200 | 201, schema: S): Success<S, typeof JSON_MEDIA, "plain"> => ({
  status,
  schema,
  media: JSON_MEDIA,
  line: null,
  form: "plain",
  extension: null
})

/** JSON of this shape with a version: HTTP answers it as an ETag, and takes it as If-Match. */
export const versioned = <S extends Schema.Top>(schema: S): Success<S, typeof JSON_MEDIA, "versioned"> => ({
  ...json(200, schema),
  form: "versioned"
})

/** JSON of this shape with a tag: HTTP answers 304 to a caller that has it. */
export const tagged = <S extends Schema.Top>(schema: S): Success<S, typeof JSON_MEDIA, "tagged"> => ({
  ...json(200, schema),
  form: "tagged"
})

/** JSON of this shape or a stream of events, as an upstream made it. */
export const passed = <S extends Schema.Top>(schema: S): Success<S, typeof JSON_MEDIA, "passed"> => ({
  ...json(200, schema),
  form: "passed"
})

/** JSON of a list of this shape, or its items one a line. */
export const jsonOrLines = <S extends Schema.Top>(
  item: S
): Success<Schema.$Array<S>, typeof JSON_MEDIA | typeof LINES_MEDIA, "plain"> => ({
  ...json(200, Schema.Array(item)),
  line: item
})

/** Bytes or text of a media type. */
export const media = <const M extends string>(type: M, extension: string | null = null): Success<null, M, "plain"> => ({
  status: 200,
  schema: null,
  media: type,
  line: null,
  form: "plain",
  extension
})

/** A stream of server-sent events of one name, each with data of this shape. */
export const events = <const N extends string, D extends Schema.Top>(
  event: N,
  data: D
): Success<null, typeof EVENT_STREAM_MEDIA, { readonly event: N; readonly data: D }> => ({
  ...media(EVENT_STREAM_MEDIA),
  form: { event, data }
})

/** Bytes of a media type, or JSON of this shape where `Accept` requests it. */
export const mediaOrJson = <const M extends string, S extends Schema.Top>(
  type: M,
  schema: S
): Success<S, M | typeof JSON_MEDIA, "plain"> => ({
  ...media(type),
  schema
})

/** Methods of endpoints. HEAD and OPTIONS are derived. */
export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE"

/**
 * Bound on what a caller may have under way. `capture`: bytes of bodies, which wait unread beyond it. `costly_read`:
 * requests that run one after another for each caller, and of which few may wait; `large_page`: those are it whose
 * `limit` is above the default.
 */
export type Admission = "capture" | "costly_read" | "large_page"

/**
 * The use of a quota: reserved at its most before the operation runs, by the decoded body and its bytes, and settled by
 * it. `byOperation`: it reserves by itself, once it knows that it may run at all.
 */
export interface QuotaRow {
  readonly resource: MonthlyResource
  readonly byOperation?: true
  readonly most: (body: any, bytes: number) => number
}

/** The facts of an endpoint that the platform API counts by and keeps. Spec: document 2 sections 4, 8 and 9. */
export interface PlatformFacts {
  /** The limit of its own, beside the plan's; null for none. */
  readonly operation: OperationName | null
  /** Units of that limit that a request takes, by its decoded body. */
  readonly cost: (body: any) => number
  /** The use that a request makes of the month's quota; null for none. */
  readonly quota: QuotaRow | null
  /** The product that it is of. */
  readonly module: string
  /** True when a POST with this decoded body may be repeated with an Idempotency-Key. A streamed answer is not kept. */
  readonly idempotent: (body: any) => boolean
  /** When it was deprecated and when it ends, at least 12 months later; null while neither is decided. */
  readonly sunset: { readonly deprecatedAt: string; readonly endsAt: string } | null
}

/** One endpoint. Query, body and success keep their schemas, so that handlers and embedding clients derive from it. */
export interface Endpoint<
  P extends Params = Params,
  Q extends Query | null = Query | null,
  B extends Body | null = Body | null,
  R extends RefusalTag = RefusalTag,
  S extends Success = Success
> {
  /** Name of its handler: `agents.create`. */
  readonly id: string
  readonly method: Method
  /** With parameters in braces, as the specification writes them. */
  readonly path: string
  readonly summary: string
  readonly access: AccessRow
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly success: S
  readonly admission: Admission | null
  /** Refusals of its own, beside those that every endpoint of its kind has: see `refusalsOf`. */
  readonly refusals: ReadonlyArray<R>
  /** Statuses of its refusals where they differ from those of their classes. */
  readonly statuses?: { readonly [T in RefusalTag]?: number }
  /** True when its answer is the one that shows a key or a secret. */
  readonly showsSecret?: true
  /** Null for the endpoints of document 1. */
  readonly platform: PlatformFacts | null
}

/** The decoded query of a row; no members without one. */
export type QueryValue<Q> = Q extends Query<infer A, any> ? A : {}

/** The decoded body of a row; null without one. */
export type BodyValue<B> = B extends Body<infer A, any, any> ? A : null

/** A group of endpoints by the names of their operations. */
export type Group = { readonly [operation: string]: AnyEndpoint }

/** An endpoint of any shape, for those who read the table. */
export type AnyEndpoint = Endpoint<any, any, any, any, any>

interface Declaration<P extends Params, Q extends Query, B extends Body, R extends RefusalTag, S extends Success> {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly access: AccessRow
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly success: S
  readonly admission?: Admission
  readonly refusals?: ReadonlyArray<R>
  readonly statuses?: { readonly [T in R]?: number }
  readonly showsSecret?: true
  readonly platform?: Pick<PlatformFacts, "module"> & Partial<PlatformFacts>
}

/** The body of a row of document 2, whose other members are ignored. Spec: platform section 2. */
const opened = (body: Body): Body => {
  const decoder = decode(body.schema as Schema.Top & { readonly DecodingServices: never }, "ignored")
  return {
    ...body,
    decode: (value) => (value instanceof ReceivedFile ? Result.succeed(value) : decoder(value, "body"))
  }
}

const platformDefaults = { operation: null, cost: () => 1, quota: null, idempotent: () => true, sunset: null } as const

/** Declares an endpoint. Spec: decision 0003. */
export const endpoint = <
  S extends Success,
  P extends Params = {},
  Q extends Query = never,
  B extends Body = never,
  const R extends RefusalTag = never
>(
  declared: Declaration<P, Q, B, R, S>
): Endpoint<P, [Q] extends [never] ? null : Q, [B] extends [never] ? null : B, R, S> =>
  ({
    ...declared,
    params: declared.params ?? {},
    query: declared.query ?? null,
    body: declared.body === undefined ? null : declared.platform === undefined ? declared.body : opened(declared.body),
    admission: declared.admission ?? null,
    refusals: declared.refusals ?? [],
    platform: declared.platform === undefined ? null : { ...platformDefaults, ...declared.platform }
  }) as unknown as Endpoint<P, [Q] extends [never] ? null : Q, [B] extends [never] ? null : B, R, S>

/** Refusals that any request can meet before its handler runs. */
export const generalRefusals = [
  "InvalidInput",
  "BodyTooLarge",
  "UnsupportedMediaType"
] as const satisfies ReadonlyArray<RefusalTag>

/** Refusals of a request with an `Idempotency-Key`. */
const ofKeys = [
  "IdempotencyKeyInUse",
  "IdempotencyAnswerLost",
  "IdempotencyKeyReused",
  "IdempotencyNotSupported"
] as const satisfies ReadonlyArray<RefusalTag>

/** Endpoints that stay open to the keys of a quarantined agent. */
const openInQuarantine: ReadonlySet<string> = new Set(["kill.status", "kill.stream", "kill.ack"])

/**
 * True when a request names an agent, or its decision, evaluation or review, and is refused while the agent is
 * quarantined.
 */
export const namesAgent = ({ body, id, params, query }: AnyEndpoint): boolean =>
  !openInQuarantine.has(id) &&
  ("agent_id" in params ||
    "decision_id" in params ||
    "evaluation_id" in params ||
    "review_id" in params ||
    (query !== null && query.names.includes("agent_id")) ||
    (body !== null && "fields" in body.schema && "agent_id" in (body.schema.fields as object)))

/** True when a request may carry an `Idempotency-Key`. Spec: document 2 section 4; api.md "Conventions". */
export const isRepeatable = ({ method }: AnyEndpoint): boolean => method === "POST" || method === "PATCH"

/** True when the answer to a decoded body can be kept for repeats: it is text, made at once. */
export const keepsAnswer = ({ platform, success }: AnyEndpoint, body: unknown): boolean =>
  success.schema !== null && (platform === null || platform.idempotent(body))

/** Every refusal of an endpoint: its own, and the general ones that apply to it. */
export const refusalsOf = (of: AnyEndpoint): ReadonlyArray<RefusalTag> => {
  const tags: Array<RefusalTag> = [...generalRefusals, ...of.refusals]
  if (!of.access.anonymous) tags.push("Unauthorized", "Forbidden")
  if (!of.access.ingestKey) tags.push("KeyNotAllowed")
  if (of.admission !== null) tags.push(of.admission === "capture" ? "CaptureQueueFull" : "ReadQueueFull")
  if (isRepeatable(of)) tags.push(...ofKeys)
  if (of.access.ingestKey && namesAgent(of)) tags.push("AgentQuarantined")
  if (of.platform !== null) tags.push("RateLimitExceeded")
  if (of.platform?.quota != null) tags.push("QuotaExceeded")
  return [...new Set(tags)].sort()
}
