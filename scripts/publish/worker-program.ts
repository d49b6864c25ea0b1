/** A worker that uses the client as the path of a request says, for the trial in workerd. */
import { ActionDenied, type AgentClient, openClient, type Problem } from "@flyball/client"

interface Settings {
  readonly FLYBALL_URL: string
  readonly FLYBALL_KEY: string
}

const AGENT = "worker-bot"

const settingsOf = (url: URL) => ({
  cents: Number(url.searchParams.get("cents")),
  review: url.searchParams.get("review") ?? "",
  started: url.searchParams.get("started") ?? ""
})

/** The acts that a caller may request, by the path. */
const acts: { readonly [path: string]: (agent: AgentClient, url: URL) => Promise<unknown> } = {
  "/register": async (agent) => agent.id,
  "/note": (agent) => agent.witness({ action: "note", kind: "message", status: "ok" }),
  "/evaluate": async (agent, url) => {
    const { cents } = settingsOf(url)
    return (await agent.evaluate({ action: "refund", signals: { tool: "refund", cents } })).outcome
  },
  "/refund": (agent, url) => {
    const { cents, review } = settingsOf(url)
    const action = { name: "refund", signals: { tool: "refund", cents } }
    const approved = review === "" ? {} : { approvalId: review }
    return agent.guard({ ...action, ...approved }, { cents }, () => `refunded ${cents}`)
  },
  "/wait": async (agent, url) => {
    const { resolution, status } = await agent.reviews.wait(settingsOf(url).review, { withinMs: 20_000 })
    return `${status} ${resolution}`
  },
  // The effect says that it began, and ends by the halt alone.
  "/until-halted": (agent, url) => {
    const { cents, started } = settingsOf(url)
    const action = { name: "refund", signals: { tool: "refund", cents } }
    return agent.guard(action, { cents }, async ({ signal }) => {
      const halted = new Promise<string>((resolve) => {
        signal.addEventListener("abort", () => resolve((signal.reason as Error).message))
      })
      await fetch(started)
      return halted
    })
  }
}

export default {
  async fetch(request: Request, { FLYBALL_KEY: key, FLYBALL_URL }: Settings): Promise<Response> {
    const problems: Array<Problem> = []
    const client = openClient({ url: FLYBALL_URL, key, onProblem: (problem) => void problems.push(problem) })
    const url = new URL(request.url)
    const agent = await client.register({ name: AGENT, owner_name: "Ada", owner_email: "ada@example.org" })
    const answer = await acts[url.pathname]!(agent, url).catch((cause: unknown) =>
      cause instanceof ActionDenied
        ? { outcome: cause.outcome, rule: cause.rule, review: cause.reviewId }
        : String((cause as Error).stack)
    )
    const { accepted, pending, rejected } = await client.close()
    return Response.json({ answer, flushed: { accepted, pending, rejected }, problems })
  }
}
