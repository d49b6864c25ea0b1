/** Installs the client as an agent's author would, and runs the program of its README in every runtime. */
import { spawn } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AdapterReadme, adapterReadmes, refundModel } from "../../property-tests/src/client/adapter-readmes.ts"
import {
  prepareReadme,
  readmeOutput,
  readmeProgram,
  type Sender
} from "../../property-tests/src/client/readme-program.ts"
import { startServer } from "../demo/server.ts"

/**
 * A command that runs a program, and the file that it is to be given: `ts` as it stands, `js` as TypeScript emits it.
 */
export interface Runtime {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly takes: "ts" | "js"
}

/** Where the README's program lies after {@link writeProgram}. */
const PROGRAM = "readme"

/** Writes the program into an installed project, with settings that check every declaration that it reaches. */
export const writeProgram = (folder: string): void => {
  writeFileSync(join(folder, `${PROGRAM}.ts`), readmeProgram)
  const compilerOptions = {
    module: "nodenext",
    // The oldest Node of the client has no `await using`.
    target: "es2022",
    lib: ["es2022", "esnext.disposable", "dom"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    outDir: "emitted"
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [`${PROGRAM}.ts`] }))
}

/** The frameworks of the adapters, in the versions that the adapters are tested with. */
export const frameworks = (root: string): ReadonlyArray<string> => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8")) as {
    readonly devDependencies: { readonly [name: string]: string }
  }
  return Object.entries(devDependencies).map(([name, version]) => `${name}@${version}`)
}

/** Writes a program that loads every adapter of an installed client, and the settings to check its declarations. */
export const writeAdapters = (folder: string): void => {
  const { exports } = JSON.parse(readFileSync(join(folder, "node_modules/@flyball/client/package.json"), "utf8")) as {
    readonly exports: { readonly [subpath: string]: unknown }
  }
  const adapters = Object.keys(exports).filter((one) => ![".", "./file-spool", "./package.json"].includes(one))
  const lines = adapters.map((subpath, at) => `import * as a${at} from "@flyball/client${subpath.slice(1)}"`)
  const names = adapters.map((_, at) => `...Object.keys(a${at})`)
  writeFileSync(
    join(folder, "adapters.ts"),
    `${lines.join("\n")}\nconsole.log(${adapters.length}, "adapters:", [${names.join(", ")}].sort().join(", "))\n`
  )
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["esnext", "dom", "dom.iterable"],
    types: ["node"],
    strict: true,
    skipLibCheck: false,
    noEmit: true
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["adapters.ts"] }))
}

/** Fails: throws unless the project holds the client alone, and what it loads by itself needs no module of Node. */
export const requireAlone = (folder: string): string => {
  const installed = globSync("node_modules/{[!@]*,@*/*}/package.json", { cwd: folder })
  if (installed.length !== 1) throw new Error(`It brings ${installed.join(", ")}.`)
  const dist = join(folder, "node_modules/@flyball/client/dist")
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, named] of readFileSync(join(dist, file), "utf8").matchAll(
      /^(?:import|export)\b[^;]*?"([^"]+)";$/gm
    )) {
      if (!named!.startsWith(".")) throw new Error(`dist/${file} imports ${named}.`)
      visit(join(file, "..", named!))
    }
  }
  visit("index.js")
  const bytes = [...seen].reduce((sum, file) => sum + readFileSync(join(dist, file)).length, 0)
  return `${Math.ceil(bytes / 1024)} KiB without any import`
}

/** A server that knows the agent of the README. */
export interface ReadmeServer {
  /** Runs the program. Fails: rejects where its output is not the README's. */
  readonly tryIn: (runtime: Runtime) => Promise<void>
  /** Address of the server, and an ingest key, as the settings of an agent name them. */
  readonly environment: { readonly FLYBALL_URL: string; readonly FLYBALL_KEY: string }
  /** Sends requests as a person of this role. */
  readonly senderOf: (role: string, sub: string) => Promise<Sender>
  readonly stop: () => Promise<number>
}

/** Starts a server in an installed project, and prepares it as the README says. */
export const startReadmeServer = async (folder: string): Promise<ReadmeServer> => {
  const data = join(folder, "server")
  mkdirSync(join(data, "trust"), { recursive: true, mode: 0o700 })
  const server = await startServer(data)
  const senderOf = async (role: string, sub: string): Promise<Sender> => {
    const token = (await server.flyball("token", "--role", role, "--sub", sub)).stdout.trim()
    return async (method, path, json) => {
      const got = await server.call(method, `/api/v1${path}`, token, json)
      if (got.status >= 300) throw new Error(`${path}: ${got.status} ${new TextDecoder().decode(got.bytes)}`)
      return got.json
    }
  }
  const admin = await senderOf("admin", "ann")
  await prepareReadme(admin, await senderOf("governor", "ben"))
  const { key } = await admin("POST", "/admin/ingest-keys", { name: "the README", org_unit: "claims" })
  const environment = { FLYBALL_URL: server.address, FLYBALL_KEY: String(key) }
  return {
    environment,
    senderOf,
    tryIn: async ({ args, command, takes }) => {
      const file = takes === "ts" ? `${PROGRAM}.ts` : `emitted/${PROGRAM}.js`
      const out = await output(command, [...args, file], folder, environment)
      if (out !== readmeOutput) throw new Error(`It printed:\n${out}`)
      rmSync(join(folder, "flyball-spool"), { recursive: true })
    },
    stop: server.stop
  }
}

/**
 * Writes the programs of the adapters' READMEs into an installed project, with the settings to check their types.
 */
export const writeAdapterReadmes = (folder: string): void => {
  for (const { files, name } of adapterReadmes) {
    mkdirSync(join(folder, name))
    for (const file of files) writeFileSync(join(folder, name, file.name), file.text)
  }
  const settings = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8")) as { files: Array<string> }
  settings.files.push(...adapterReadmes.map(({ name }) => `${name}/program.ts`))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
}

/** Runs the program of an adapter's README. Fails: rejects where its output is not the page's. */
export const tryAdapterReadme = async (
  folder: string,
  { name, prints }: AdapterReadme,
  environment: ReadmeServer["environment"]
): Promise<void> => {
  const model = await refundModel(folder)
  const cwd = join(folder, name)
  const out = await output(process.execPath, ["program.ts"], cwd, { ...environment, ...model.environment })
  await model.close()
  if (out !== prints) throw new Error(`It printed:\n${out}`)
}

/** Runs a program and returns its output, with its errors where it fails. */
const output = (
  command: string,
  args: ReadonlyArray<string>,
  cwd: string,
  environment: { readonly [name: string]: string }
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    child.stdout.on("data", (chunk) => (out += String(chunk)))
    child.stderr.on("data", (chunk) => (out += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve(status === 0 ? out : `${out}\nended with ${status}`))
  })
