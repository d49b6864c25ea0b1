/** The programs that the adapters' READMEs show, and what they print. */
import { readFileSync } from "node:fs"
import { serveMessages } from "../../../packages/client/src/adapters/claude-agent-sdk/testing/messages-server.ts"

/** A page with a program. */
export interface AdapterReadme {
  readonly name: string
  /** Files that a reader writes, the program first. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly text: string }>
  readonly prints: string
}

const adapters = ["ai-sdk", "openai-agents", "claude-agent-sdk", "mcp"]

/** The pages, as a reader copies them. */
export const adapterReadmes: ReadonlyArray<AdapterReadme> = adapters.map((name) => {
  const page = readFileSync(new URL(`../../../packages/client/src/adapters/${name}/README.md`, import.meta.url), "utf8")
  const block = (language: string): string | undefined =>
    new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1]
  const server = block("js")
  return {
    name,
    files: [
      { name: "program.ts", text: block("ts")! },
      ...(server === undefined ? [] : [{ name: "shop.mjs", text: server }])
    ],
    prints: block("text")!
  }
})

/**
 * A model on a loopback port that asks for both refunds, and what points the program of the Claude Agent SDK to it. The
 * other programs bring a model of their own.
 */
export const refundModel = async (home: string) => {
  const card_number = "4000 0000 0000 0002"
  const model = await serveMessages(({ messages }) =>
    JSON.stringify(messages).includes('"tool_result"')
      ? "done"
      : [2_500, 90_000].map((cents) => ({ name: "mcp__shop__refund", input: { cents, card_number } }))
  )
  return {
    environment: {
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "of-a-test",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1"
    },
    close: model.close
  }
}
