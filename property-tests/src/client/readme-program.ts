/** The program that the client's README shows, and the world that it is to run in. */
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("../../../packages/client/README.md", import.meta.url), "utf8")

/** The program, as a reader copies it. */
export const readmeProgram = /^```ts\n([\s\S]*?)^```/m.exec(page)![1]!

/** The program's output, as the page states it. */
export const readmeOutput = /^```text\n([\s\S]*?)^```/m.exec(page)![1]!

/** The name of its agent. */
export const readmeAgent = "refund-bot"

/** Sends a request with the rights of a person; answers the body, and throws where the server refuses. */
export type Sender = (
  method: "GET" | "POST" | "PATCH",
  path: string,
  json?: unknown
) => Promise<{ readonly [name: string]: unknown }>

/** Registers and activates the agent, under an envelope that allows refunds up to 5,000. */
export const prepareReadme = async (admin: Sender, governor: Sender): Promise<void> => {
  const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
  const agent = await admin("POST", "/agents", { name: readmeAgent, org_unit: "claims", ...owner })
  const envelope = await admin("POST", "/bound/envelopes", {
    name: "Refunds",
    agent_id: agent["id"],
    envelope: {
      semantics: "envelope/1",
      signals: {
        tool: { type: "enum", values: ["refund"], source: "caller" },
        cents: { type: "int", unit: "EUR/100", min: 0, max: 1_000_000, source: "caller" }
      },
      effects: { refund: "write_reversible" },
      rules: [{ id: "small", outcome: "allow_with_notice", when: [{ signal: "cents", lte: 5_000 }] }],
      default: { outcome: "deny" }
    }
  })
  await governor("POST", `/bound/envelopes/${String(envelope["id"])}/publish`, {})
  await admin("PATCH", `/agents/${String(agent["id"])}`, { autonomy_tier: "L2" })
  await admin("POST", `/agents/${String(agent["id"])}/activate`, {})
}
