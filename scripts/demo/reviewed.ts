/**
 * The demo's chapter on reviews: a real tool call that the envelope sends to people, a person who reads it and
 * approves it, and an approval that counts once.
 */
import { isDeepStrictEqual } from "node:util"
import { ActionDenied, type Json, openClient } from "@flyball/client"
import { itemsOf, type ToolCall } from "./bounds.ts"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Reviewed {
  readonly agent: string
  readonly action: string
  readonly items: number
  /** The outcome of the call before anybody approved it. */
  readonly before: string
  /** The refusal of the envelope's author. */
  readonly author: string
  /** The reviewer saw the arguments of this call, and one record has the digest of what was shown. */
  readonly isShown: boolean
  readonly answered: string
  /** The outcome of the call with the approval. */
  readonly first: string
  readonly consumed: string
  /** The outcome with the same approval again. */
  readonly second: string
  readonly isAnother: boolean
}

/** Lets an agent ask, a person approve, and the agent continue. */
export const reviewed = async ({
  agent: { name },
  call: { action, args },
  key,
  server
}: {
  readonly agent: { readonly name: string }
  readonly call: ToolCall
  readonly key: string
  readonly server: RunningServer
}): Promise<Reviewed> => {
  const person = async (role: string, sub: string): Promise<string> =>
    (await server.flyball("token", "--role", role, "--sub", sub)).stdout.trim()
  // Ann wrote the envelope; Rita had no part in either.
  const [ann, rita] = await Promise.all([person("governor", "ann"), person("reviewer", "rita")])
  const ask = async (method: string, path: string, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, `/api/v1/${path}`, rita, body)
    if (status >= 300)
      throw new Error(`${method} ${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  await using client = openClient({
    url: server.address,
    key,
    // The page must not depend on how busy the machine is.
    timeoutMs: 20_000,
    signals: (tool, given): { readonly [signal: string]: Json } => ({ tool, items: itemsOf(given) })
  })
  const agent = await client.register({ name })
  await agent.kill.refresh()
  const attempt = async (approvalId?: string): Promise<{ readonly came: string; readonly review: string | null }> => {
    try {
      const came = await agent.guard(
        { name: action, ...(approvalId === undefined ? {} : { approvalId }) },
        args as Json,
        () => "the return"
      )
      return { came, review: null }
    } catch (cause) {
      if (!(cause instanceof ActionDenied)) throw cause
      return { came: `${cause.outcome} by ${cause.rule}`, review: cause.reviewId }
    }
  }

  const before = await attempt()
  const path = `bound/reviews/${before.review}`
  const answer = { resolution: "approve", reason: "The customer sent the parcel back." }
  const author = await server.call("POST", `/api/v1/${path}/resolve`, ann, answer)
  const shown = await ask("GET", path)
  const answered = await ask("POST", `${path}/resolve`, answer)
  const presented = (await ask("GET", "chain/records?kind=review.presented")).filter(
    ({ body }: { readonly body: { readonly presented_digest: string; readonly review_id: string } }) =>
      body.review_id === before.review && `sha256:${body.presented_digest}` === shown.presented_digest
  )
  const first = await attempt(before.review!)
  const { consumed_result: consumed } = await ask("GET", path)
  const second = await attempt(before.review!)
  await client.flush()
  return {
    agent: name,
    action,
    items: itemsOf(args),
    before: before.came,
    author: author.json.code,
    isShown: isDeepStrictEqual(shown.args, args) && presented.length === 1,
    answered: `${answered.status}, ${answered.resolution}`,
    first: first.came,
    consumed,
    second: second.came,
    isAnother: second.review !== null && second.review !== before.review
  }
}

/** Its lines of the page. */
export const reviewedLines = ({
  action,
  agent,
  answered,
  author,
  before,
  consumed,
  first,
  isAnother,
  isShown,
  items,
  second
}: Reviewed): ReadonlyArray<string> => [
  `Then ${agent} made one of its real calls, ${action} with ${items} items, behind @flyball/client. It did not run: ` +
    `${before}, and a review was opened.`,
  `The envelope's author may not answer it (${author}). A person who had no part in either read it ` +
    `first, ${isShown ? "and the digest of what was shown is on record" : "but what was shown is not on record"}.`,
  `That person approved it (${answered}). The agent presented the approval, and the same call ran: ${first}. The ` +
    `approval is ${consumed}.`,
  `With the same approval a second time it did not: ${second}, with ${isAnother ? "a new" : "no new"} review.`
]
