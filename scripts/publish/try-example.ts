/** Starts an example as its README says, uses it as its agent and its auditor would, and restarts it. */
import { spawn, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"

interface Service {
  readonly url: string
  readonly stop: () => Promise<number | null>
}

/** The operator's token, as a service's own settings would have it. */
const OPERATOR_TOKEN = "a-token-of-the-trial"

const start = async (folder: string, program: string): Promise<Service> => {
  const child = spawn(process.execPath, [program, "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, OPERATOR_TOKEN }
  })
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => resolve(/^ready at (http:\S+)$/.exec(line)?.[1] ?? ""))
    ended.then((status) => reject(new Error(`The service ended with ${status} before it was ready.`)), reject)
  })
  return {
    url,
    stop: () => {
      child.kill("SIGTERM")
      return ended
    }
  }
}

const expectEqual = (found: unknown, expected: unknown, what: string): void => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}.`)
}

/**
 * Runs the whole story in an installed copy, with the program that its `start` script names. Fails: rejects with the
 * first thing that is not as expected.
 */
export const tryExample = async (folder: string, program: string, verifier: string): Promise<void> => {
  let service = await start(folder, program)
  const refund = async (ref: unknown, amount: unknown) => {
    const response = await fetch(`${service.url}/refunds`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ref, order: "W100", amount })
    })
    const { code, detail, repeated } = (await response.json()) as {
      readonly code?: string
      readonly detail?: { readonly rule?: string }
      readonly repeated?: boolean
    }
    return [response.status, code ?? "done", repeated ?? detail?.rule ?? null]
  }
  const operate = async (method: string, path: string, token: string, body?: unknown) => {
    const response = await fetch(`${service.url}/flyball/api/v1${path}`, {
      method,
      headers: { "content-type": "application/json", "x-operator-token": token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, json: (await response.json()) as ReadonlyArray<{ readonly id: string }> }
  }
  try {
    expectEqual(await refund("r1", 1_500), [200, "done", false], "a small refund")
    expectEqual(await refund("r1", 1_500), [200, "done", true], "the same again")
    expectEqual(await refund("r2", 3_000), [403, "action_denied", "@default"], "a large refund")
    expectEqual(await refund("r3", 2_000), [200, "done", false], "another small one")
    expectEqual(await refund("r4", 2_000), [403, "action_denied", "daily"], "the one that passes the daily limit")
    expectEqual(await refund("r5", "free"), [403, "action_denied", "@invalid_signal"], "an amount that is no number")
    expectEqual((await refund(undefined, 100)).slice(0, 2), [422, "invalid_input"], "a refund without a reference")
    expectEqual(await service.stop(), 0, "the exit status after SIGTERM")
    service = await start(folder, program)
    expectEqual(await refund("r3", 2_000), [200, "done", true], "a repetition after a restart")
    expectEqual((await operate("GET", "/agents", "a guess")).status, 401, "an operator with another token")
    const [agent] = (await operate("GET", "/agents", OPERATOR_TOKEN)).json
    const suspend = `/agents/${agent?.id}/suspend`
    expectEqual((await operate("POST", suspend, OPERATOR_TOKEN, { reason: "a trial" })).status, 200, "a suspension")
    expectEqual((await refund("r6", 100)).slice(0, 2), [403, "action_denied"], "a refund of the suspended agent")
    const pack = join(folder, "evidence.evp")
    writeFileSync(pack, Buffer.from(await (await fetch(`${service.url}/evidence.evp`)).arrayBuffer()))
    const vkey = (await (await fetch(`${service.url}/vkey`)).text()).trim()
    const verified = spawnSync(process.execPath, [verifier, pack, "--vkey", vkey, "--replay"], { encoding: "utf8" })
    if (verified.status !== 0) throw new Error(`The pack does not verify.\n${verified.stdout}${verified.stderr}`)
  } finally {
    await service.stop()
  }
}
