/** A process whose server refuses connections: nothing that it waits for may end it, and nothing else keeps it. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const entry = new URL("./index.ts", import.meta.url).href

/** Runs lines of a program with a client whose server is gone after the registration. */
const run = (...lines: ReadonlyArray<string>): Promise<{ readonly status: number | null; readonly out: string }> => {
  const program = `
    import { openClient } from ${JSON.stringify(entry)}
    const target = { target_type: "agent", target_id: "agt_1", origin: "a" }
    const status = { halted: false, drill: false, activation_event: null, effective_response: null, epoch: 1 }
    let open = true
    const fetch = async (input) => {
      if (!open || input.includes("/stream")) throw new TypeError("fetch failed")
      return Response.json(input.includes("/kill/") ? { ...status, ...target } : [{ id: "agt_1", name: "bot" }])
    }
    const client = openClient({ url: "http://flyball.test", key: "k", fetch })
    const agent = await client.register({ name: "bot" })
    await agent.kill.refresh()
    open = false
    ${lines.join("\n")}
  `
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (out += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, out }))
  })
}

describe("a process whose server is gone", () => {
  for (const [what, line, printed] of [
    [
      "a guarded action",
      'console.log(await agent.guard("refund", {}, () => 1).catch((denied) => denied.rule))',
      "@fail_closed:unreachable\n"
    ],
    [
      "a wait for a review",
      'console.log(await agent.reviews.wait("rev_1", { withinMs: 300 }).catch((cause) => cause.name))',
      "ServerRefused\n"
    ],
    ["a flush", 'await agent.witness({ action: "note" })\n    console.log((await client.flush(300)).pending)', "1\n"],
    [
      "the end of the client",
      'await agent.witness({ action: "note" })\n    console.log((await client.close()).pending)',
      "1\n"
    ]
  ] as const)
    it(`continues until ${what} has ended`, async () => {
      const { out, status } = await run(line)
      assert.deepStrictEqual({ status, out }, { status: 0, out: printed })
    })

  it("is not kept by a wait for a review once the client is closed", async () => {
    const { out, status } = await run(
      'agent.reviews.wait("rev_1", { withinMs: 3_600_000 }).catch((cause) => console.log(cause.answer))',
      "await client.close()"
    )
    assert.deepStrictEqual({ status, out }, { status: 0, out: "the client is closed\n" })
  })

  it("is not kept by what the client does in the background", async () => {
    // It would continue for ever.
    const { out, status } = await run('void agent.witness({ action: "note" })')
    assert.deepStrictEqual({ status, out }, { status: 0, out: "" })
  })
})
