/** Reads the OpenTelemetry settings that name a collector. Spec: OpenTelemetry, OTLP exporter configuration. */

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/
const VALUE = /^[\x20-\x7e]{0,4096}$/
/** Headers that frame a request; setting them breaks it. */
const framing: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "transfer-encoding",
  "connection",
  "host"
])

/**
 * `a=1,b=2` with values in percent encoding, as headers by name in small letters; null where it is not of this form.
 */
export const readOtlpHeaders = (text: string): { readonly [name: string]: string } | null => {
  const headers: { [name: string]: string } = {}
  for (const pair of text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")) {
    const at = pair.indexOf("=")
    const name = pair.slice(0, at).trim().toLowerCase()
    const value = decoded(pair.slice(at + 1).trim())
    if (at < 1 || !NAME.test(name) || framing.has(name) || value === null || !VALUE.test(value)) return null
    headers[name] = value
  }
  return headers
}

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** True for the address of a collector: http or https, and nothing in it that is secret, since it is shown. */
export const isCollector = (text: string): boolean => {
  const url = text.length <= 2_048 && URL.canParse(text) ? new URL(text) : null
  return (
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    !/[?#]/.test(text)
  )
}
