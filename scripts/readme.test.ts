/**
 * Runs the examples of the README and of the pages in docs: shell blocks against a real server, embedding examples
 * unchanged.
 */
import { spawn } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { helpText } from "../apps/server/src/cli/help.ts"
import { type RunningServer, startServer } from "./demo/server.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const readme = readFileSync(join(root, "README.md"), "utf8")
const folder = mkdtempSync(join(tmpdir(), "flyball-readme-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const blocks = (language: string, text = readme): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!)

const run = (
  program: string,
  args: ReadonlyArray<string>,
  environment: { readonly [name: string]: string },
  cwd = root
): Promise<{ readonly status: number; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    child.stdout.on("data", (chunk) => (output += String(chunk)))
    child.stderr.on("data", (chunk) => (output += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status: status ?? -1, output }))
  })

/** A folder with the two commands: the programs that `npm test` joined, or the sources where this file runs alone. */
const commandsFolder = (): string => {
  const joined = process.env["FLYBALL_TEST_PROGRAMS"]
  if (joined === undefined) return join(root, "node_modules/.bin")
  const bin = join(folder, "bin")
  mkdirSync(bin)
  for (const [name, file] of [
    ["flyball", "server/main.js"],
    ["flyball-verify", "verify/flyball-verify.mjs"]
  ] as const)
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${join(joined, file)}" "$@"\n`, {
      mode: 0o755
    })
  return bin
}

/** Starts a server in a folder, with the trust store that the demo's settings name. */
const startIn = (place: string): Promise<RunningServer> => {
  mkdirSync(join(place, "trust"), { recursive: true, mode: 0o700 })
  return startServer(place)
}

/** Runs a TypeScript example in a folder of its own, where the workspace's packages are found. */
const runExample = (example: string, name: string): Promise<{ readonly status: number; readonly output: string }> => {
  const place = join(folder, name)
  mkdirSync(place)
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"), "junction")
  writeFileSync(join(place, "example.ts"), example)
  return run(process.execPath, ["example.ts"], {}, place)
}

describe("the README", () => {
  it("has under 150 lines", () => {
    assert.isBelow(readme.trimEnd().split("\n").length, 150)
  })

  it("begins with two commands and npm start, which CI and the other tests run", () => {
    assert.deepEqual(
      blocks("sh")
        .filter((block) => block.startsWith("npm "))
        .map((block) => block.trim()),
      ["npm ci && npm run demo", "npm ci && npm test", "npm start"]
    )
  })

  it("has shell blocks that work beside a running server", async () => {
    const server = await startIn(folder)
    try {
      const script = blocks("sh")
        .filter((block) => !block.startsWith("npm "))
        .join("\n")
        .replaceAll("http://127.0.0.1:8787", server.address)
        .replaceAll("evidence.evp", join(folder, "evidence.evp"))
      const { output, status } = await run("bash", ["-euo", "pipefail", "-c", script], {
        FLYBALL_DATA_DIR: folder,
        FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`,
        FLYBALL_ORIGIN: "flyball.example/demo"
      })
      assert.equal(status, 0, output)
      assert.include(output, `"client_ref":"run-1/step-1"`)
      assert.include(output, "GOOD. ")
    } finally {
      await server.stop()
    }
  })

  it("embeds in ten lines", async () => {
    const [example] = blocks("ts")
    assert.isAtMost(example!.trim().split("\n").length, 10)
    const { output, status } = await runExample(example!, "readme-example")
    assert.equal(status, 0, output)
    assert.equal(output.trim(), "durable and sealed as record 2")
  })
})

describe("docs/embed.md", () => {
  it("has an example that runs", async () => {
    const examples = blocks("ts", readFileSync(join(root, "docs/embed.md"), "utf8"))
    assert.lengthOf(examples, 2)
    const { output, status } = await runExample(examples[0]!, "embed-example")
    assert.equal(status, 0, output)
    assert.deepEqual(output.trim().split("\n"), [
      "record 2; the chain verifies: true",
      "documents match the records: true"
    ])
  })

  it("has an agent in the host's process, whose client runs what the page says", async () => {
    const [, example] = blocks("ts", readFileSync(join(root, "docs/embed.md"), "utf8"))
    const { output, status } = await runExample(example!, "embed-client-example")
    assert.equal(status, 0, output)
    assert.match(output, /^120 pages allow_with_notice\naction_denied \{[^]*rule: '@default'/)
  })
})

describe.each(["envelope", "rules"])("packages/%s/README.md", (name) => {
  it("has an example that prints what the page shows", async () => {
    const page = readFileSync(join(root, "packages", name, "README.md"), "utf8")
    const { output, status } = await runExample(blocks("ts", page)[0]!, `${name}-example`)
    assert.equal(status, 0, output)
    assert.equal(output.trim(), blocks("text", page)[0]!.trim())
  })
})

describe("docs/commands.md", () => {
  it("lists the commands of flyball --help, in order", () => {
    const page = readFileSync(join(root, "docs/commands.md"), "utf8")
    assert.deepEqual(
      [...page.matchAll(/^\| `(flyball [^`]*)` \|/gm)].map(([, line]) => line!.replaceAll("\\|", "|")),
      [...helpText(undefined).matchAll(/^  (flyball .*?) {2,}\S/gm)].map(([, line]) => line!)
    )
  })
})

describe("the pages that a newcomer follows one after the other, against one server", () => {
  it("register agents of different names: a second agent of a name is refused", () => {
    const names = ["README.md", "docs/first-steps.md", "docs/client.md", "docs/stop-an-agent.md"].flatMap((page) =>
      blocks("sh", readFileSync(join(root, page), "utf8")).flatMap((block) =>
        [...block.matchAll(/\/agents" *(?:\\\n *)?-d '\{"name":"([^"]+)"/g)].map(([, name]) => name!)
      )
    )
    assert.deepEqual(names, ["hello-bot", "order-bot", "refund-bot", "stop-bot"])
  })
})

describe("the tables of contents", () => {
  it.each(["docs", "packages/core/decisions"])("%s/README.md links every page of its folder", (place) => {
    const index = readFileSync(join(root, place, "README.md"), "utf8")
    for (const page of globSync("*.md", { cwd: join(root, place) }))
      if (page !== "README.md") assert.include(index, `](${page})`)
  })

  it("packages/core/decisions/README.md names the numbers without a record", () => {
    const place = join(root, "packages/core/decisions")
    const index = readFileSync(join(place, "README.md"), "utf8")
    const named = /^There is no record for ([^.]*)\./m.exec(index)![1]!.match(/\d{4}/g)!
    const numbers = globSync("0*.md", { cwd: place }).map((page) => Number(page.slice(0, 4)))
    const missing = Array.from({ length: Math.max(...numbers) }, (_, n) => n + 1).filter((n) => !numbers.includes(n))
    assert.deepEqual(named.map(Number), missing)
  })
})

/** Texts that the shell blocks of a page must print, besides ending with 0. */
const printed: { readonly [path: string]: ReadonlyArray<string> } = {
  "docs/quickstart-auditor.md": ["GOOD. ", "Integrity", "Assurance"],
  "docs/stop-an-agent.md": [`"matched_rule":"@killed"`, `"halted":false`, `"state":"stopped"`, `"kind":"kill.stopped"`],
  "docs/first-steps.md": [
    `"client_ref":"run-1/step-1"`,
    `"suspended_reason":"manual"`,
    "\nallow\n",
    "\n@killed\n",
    "GOOD. "
  ],
  "docs/client.md": [`"verdict":"verified"`, "\nL3\nactive\n"],
  "docs/tiers.md": ["verified\nL3\nactive\n", "allow_with_notice\ndeny\n"],
  "docs/reviews.md": [`"status":"resolved"`, `"outcome":"allow"`]
}

describe("the pages of docs", () => {
  const pages = globSync(
    ["*.md", "{docs,benchmarks,property-tests}/*.md", "{packages,apps}/*/{*.md,decisions/*.md,src/**/*.md}"],
    { cwd: root, exclude: ["**/node_modules/**"] }
  )
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
  const sources = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n")
    // Long sentences are split over lines.
    .replaceAll(/["`] \+\s+["`]/g, "")

  it.each(pages)("$path has no broken link", ({ path, text }) => {
    for (const [, target, anchor] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const file = join(root, target === "" ? path : join(dirname(path), target!))
      assert.isTrue(existsSync(file), `${path} leads to ${target}`)
      if (anchor === undefined) continue
      const heads = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, head]) =>
        head!
          .toLowerCase()
          .replaceAll(/[^a-z0-9 _-]/g, "")
          .replaceAll(" ", "-")
      )
      assert.include(heads, anchor, `${path} leads to ${target}`)
    }
  })

  const operation = pages.filter(({ path }) => path.startsWith("docs/"))
  it.each(operation)("$path quotes only what the programs print", ({ text }) => {
    const quoted = [...text.matchAll(/^> (.+)$/gm), ...text.matchAll(/^\| `([^`]* [^`]*)` \|/gm)].map(([, line]) =>
      line!.replaceAll("\\|", "|")
    )
    for (const piece of quoted
      .flatMap((line) => line.split("…"))
      .map((part) => part.trim())
      .filter((part) => part.length > 3))
      assert.include(sources, piece)
  })

  // One chain for all pages, which has signed already: it was stopped once.
  const place = join(folder, "pages")
  const data = join(place, ".flyball")
  const environment = {
    FLYBALL_DATA_DIR: data,
    FLYBALL_DATABASE_URL: `sqlite:${data}/flyball.db`,
    FLYBALL_ORIGIN: "flyball.example/demo",
    FLYBALL_TRUST_STORE: join(data, "trust"),
    PATH: `${commandsFolder()}${delimiter}${process.env["PATH"]}`
  }
  let server: RunningServer | null = null
  beforeAll(async () => void (await (await startIn(data)).stop()))
  afterAll(async () => void (await server?.stop()))

  it.each(operation)(
    "the shell blocks of $path work, beside a server or (`sh stopped`) after it was stopped",
    async ({ path, text }) => {
      let said = ""
      for (const { block, stopped } of scriptsOf(text)) {
        if (!stopped) server ??= await startIn(data)
        else await server?.stop().then(() => (server = null))
        const { output, status } = await run(
          "bash",
          ["-euo", "pipefail", "-c", block.replaceAll("http://127.0.0.1:8787", server?.address ?? "")],
          environment,
          place
        )
        assert.strictEqual(status, 0, `${block}\n${output}`)
        said += output
      }
      for (const expected of printed[path] ?? []) assert.include(said, expected)
    }
  )
})

/** The shell blocks of a page, in order. A reader has one shell: blocks that follow each other are one script. */
const scriptsOf = (text: string): ReadonlyArray<{ readonly block: string; readonly stopped: boolean }> => {
  const scripts: Array<{ block: string; readonly stopped: boolean }> = []
  for (const [, mark, block] of text.matchAll(/^```sh( stopped)?\n([^]*?)^```/gm)) {
    const stopped = mark !== undefined
    const last = scripts.at(-1)
    if (last?.stopped === stopped) last.block += block!
    else scripts.push({ block: block!, stopped })
  }
  return scripts
}
