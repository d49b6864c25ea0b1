/** Upstreams of the gateway: which models there are, where, and in which form. Spec: platform section 8. */
import { detailItem, InvalidInput, UpstreamFailed } from "@flyball/contract"
import type { EgressApi, SecretBoxApi } from "@flyball/core"
import { fromBase64, fromUtf8, toBase64, utf8 } from "@flyball/evidence"
import { Effect } from "effect"

/** Forms that clients and upstreams speak. */
export const gatewayForms = ["chat", "responses", "messages"] as const
export type GatewayForm = (typeof gatewayForms)[number]

/** One upstream of a model. */
export interface Upstream {
  /** Name of the model, as clients send it. */
  readonly model: string
  /** Address below which the paths of its form are: `https://api.example/v1`. */
  readonly baseUrl: string
  /** Forms that it speaks. */
  readonly forms: ReadonlyArray<GatewayForm>
  /** Its secret as {@link sealUpstream} sealed it; null where it needs none. */
  readonly sealedSecret: string | null
  /** Id of the model in the registry, which says its price and by which it is halted; null for none. */
  readonly modelId: string | null
  /** The longest until an answer begins. Unit: milliseconds. */
  readonly timeoutMs: number
  /** The longest between two pieces of an answer. Unit: milliseconds. */
  readonly idleMs: number
}

/** The owner that a sealed secret is bound to: it opens for no other host. */
const ownerOf = (baseUrl: string): string => `upstream:${new URL(baseUrl).origin}`

/** True for an address that may stand before the paths of a form: http or https, without user, query and fragment. */
export const isBaseUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === ""
  )
}

/** Seals the secret of the upstreams of one host, for the file. `baseUrl`: see {@link isBaseUrl}. */
export const sealUpstream = (box: SecretBoxApi, baseUrl: string, secret: string): Effect.Effect<string> =>
  Effect.map(box.seal(utf8(secret), ownerOf(baseUrl)), toBase64)

/** Opens the secret of an upstream. */
export const openSecret = (
  box: SecretBoxApi | null,
  { baseUrl, sealedSecret }: Upstream
): Effect.Effect<string | null, UpstreamFailed> => {
  const unreadable = new UpstreamFailed({ why: "its secret cannot be opened with this host's key" })
  if (sealedSecret === null) return Effect.succeed(null)
  const bytes = fromBase64(sealedSecret)
  return box === null || bytes === null
    ? Effect.fail(unreadable)
    : box.open(bytes, ownerOf(baseUrl)).pipe(
        Effect.map((secret) => fromUtf8(secret)),
        Effect.mapError(() => unreadable)
      )
}

const DEFAULT_TIMEOUT_MS = 600_000
const DEFAULT_IDLE_MS = 120_000

/**
 * Reads the file of upstreams: `{"upstreams": [{"model", "base_url", "forms", "sealed_secret", "model_id",
 * "timeout_ms", "idle_ms"}]}`. Answers a sentence where it cannot be used.
 */
export const readUpstreams = (text: string): ReadonlyArray<Upstream> | string => {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return "it is no JSON"
  }
  const list = isObject(file) ? file["upstreams"] : undefined
  if (!Array.isArray(list)) return 'it is expected to be {"upstreams": […]}'
  const upstreams: Array<Upstream> = []
  for (const [at, entry] of list.entries()) {
    const read = readUpstream(entry)
    if (typeof read === "string") return `upstreams[${at}]: ${read}`
    const twice = upstreams.find(
      ({ forms, model }) => model === read.model && forms.some((one) => read.forms.includes(one))
    )
    if (twice !== undefined) return `upstreams[${at}]: the model ${read.model} is there twice in one form`
    upstreams.push(read)
  }
  return upstreams
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const members = ["model", "base_url", "forms", "sealed_secret", "model_id", "timeout_ms", "idle_ms"]

const readUpstream = (entry: unknown): Upstream | string => {
  if (!isObject(entry)) return "an object is expected"
  const other = Object.keys(entry).find((name) => !members.includes(name))
  if (other === "secret") return "a secret is sealed: `flyball gateway-secret` seals it for `sealed_secret`"
  if (other !== undefined) return `the member ${other} is not known`
  const { base_url: baseUrl, forms = ["chat", "responses"], idle_ms: idleMs = DEFAULT_IDLE_MS, model } = entry
  const {
    model_id: modelId = null,
    sealed_secret: sealedSecret = null,
    timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS
  } = entry
  if (typeof model !== "string" || !/^[!-~]{1,200}$/.test(model)) return "model is 1 to 200 visible characters"
  if (typeof baseUrl !== "string" || !isBaseUrl(baseUrl))
    return "base_url is an address such as https://api.example/v1, without user, query and fragment"
  if (!Array.isArray(forms) || forms.length === 0 || forms.some((one) => !gatewayForms.includes(one)))
    return `forms is a list of ${gatewayForms.join(", ")}`
  if (sealedSecret !== null && (typeof sealedSecret !== "string" || fromBase64(sealedSecret) === null))
    return "sealed_secret is the text that `flyball gateway-secret` prints"
  if (modelId !== null && (typeof modelId !== "string" || !/^mdl_[0-9a-z]{26}$/.test(modelId)))
    return "model_id is the id mdl_… of a registered model"
  for (const [name, ms] of Object.entries({ timeout_ms: timeoutMs, idle_ms: idleMs }))
    if (!Number.isInteger(ms) || Number(ms) < 1 || Number(ms) > 3_600_000) return `${name} is 1 to 3600000 milliseconds`
  return {
    model,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    forms: forms as ReadonlyArray<GatewayForm>,
    sealedSecret,
    modelId,
    timeoutMs: Number(timeoutMs),
    idleMs: Number(idleMs)
  }
}

/** Describes the upstream that may not be reached; null where all may. */
export const unreachable = (upstreams: ReadonlyArray<Upstream>, egress: EgressApi): string | null => {
  for (const { baseUrl, model } of upstreams) {
    const problem = egress.urlProblem(baseUrl)
    if (problem !== null) return `the upstream of ${model} may not be reached: ${problem}`
  }
  return null
}

/** Refuses a request whose header is wrong. */
export const wrongHeader = (name: string, msg: string, given: string | null): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["header", name], "value_error", msg, given)] })
