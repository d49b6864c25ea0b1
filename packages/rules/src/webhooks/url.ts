/**
 * Which URLs a webhook may have, by their form alone. Addresses and names are the sender's business. Spec: decision
 * 0019.
 */

/**
 * The longest URL.
 *
 * - Unit: characters. What every proxy and server takes.
 * - Spec: decision 0019.
 */
export const MAX_URL_CHARACTERS = 2_048

/**
 * The error in the form of a URL: a sentence for the caller; null when there is none.
 *
 * - `allowHttp`: for receivers inside a closed network, and for development.
 * - Fails: never.
 * - Spec: decision 0019.
 */
export const urlFormProblem = (text: string, allowHttp: boolean): string | null => {
  if (text.length > MAX_URL_CHARACTERS) return `URL should have at most ${MAX_URL_CHARACTERS} characters`
  if (!URL.canParse(text) || /[\s\\]/.test(text)) return "Input should be a valid URL"
  const url = new URL(text)
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:"))
    return allowHttp ? "URL scheme should be 'https' or 'http'" : "URL scheme should be 'https'"
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/\/[^/?#]*@/i.test(text))
    return "URL should hold no user name or password"
  if (text.includes("#")) return "URL should have no fragment"
  return url.hostname === "" ? "URL should name a host" : null
}
