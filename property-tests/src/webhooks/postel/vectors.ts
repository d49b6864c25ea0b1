/** The vectors of postel as they lie in `fixtures/`, and the keys that they name. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "../../../../fixtures/vectors/webhooks/postel/vectors")
const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), "utf8"))

/** Vector for a receiver: the request on the wire, and the expected result. */
export interface ReceiverVector {
  readonly id: string
  readonly input: { readonly headers: { readonly [name: string]: string }; readonly body_b64: string }
  readonly secrets: ReadonlyArray<{ readonly fixture: string }>
  readonly signature_mode: "static" | "computed"
  readonly expected: { readonly outcome: "accept" | "reject"; readonly error_code?: string }
}

/** An endpoint as a vector registers it. */
export interface VectorEndpoint {
  readonly url: string
  readonly types: ReadonlyArray<string>
  readonly allowHttp?: boolean
  readonly signing?: { readonly fixture_id: string }
}

/** A request that is to arrive. */
export interface ExpectedRequest {
  readonly endpoint: string
  readonly path?: string
  readonly headers_present?: ReadonlyArray<string>
  readonly headers_match?: { readonly [name: string]: string }
  readonly body_json_equals?: { readonly [name: string]: unknown }
  readonly signature_verifies?: { readonly fixture_id: string }
  readonly attempt_status?: string
}

/** Vector for a sender: its input, and the expected request. */
export interface SenderVector {
  readonly id: string
  readonly mode: "sender"
  readonly triggers: ReadonlyArray<
    | { readonly op: "register_endpoint"; readonly as: string; readonly endpoint: VectorEndpoint }
    | {
        readonly op: "send"
        readonly event: { readonly type: string; readonly data?: { readonly [name: string]: string } }
      }
    | { readonly op: "start_workers" | "wait_for" }
  >
  readonly expected_requests?: ReadonlyArray<ExpectedRequest>
  readonly expected: { readonly outcome: "accept" | "reject"; readonly error_code?: string }
}

/** All of them, by id. */
export const vectors: ReadonlyArray<ReceiverVector | SenderVector> = globSync("**/*.json", { cwd: folder })
  .filter((file) => !file.startsWith("_keys"))
  .sort()
  .map((file) => {
    const vector = read(file) as ReceiverVector | SenderVector
    if (`${vector.id}.json` !== file.replaceAll("\\", "/")) throw new Error(`${file} says that it is ${vector.id}`)
    return vector
  })

/** The secret of a key, by its name with or without `.yaml`. */
export const secretOf = (fixture: string): string =>
  (read(`_keys/${fixture.replace(/\.yaml$/, "")}.json`) as { readonly key_material: string }).key_material

/**
 * The YAML files that the vectors and keys were converted from: paths from the folder of vectors, without an ending.
 */
export const sources: ReadonlyArray<string> = readFileSync(join(folder, "../SHA256SUMS"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const source = /^[0-9a-f]{64} {2}vectors\/(\S+)\.yaml$/.exec(line)
    if (source === null) throw new Error(`not a line of sha256sum: ${line}`)
    return source[1]!
  })

/** The converted files, named as their sources are. */
export const converted: ReadonlyArray<string> = globSync("**/*.json", { cwd: folder }).map((file) =>
  file.replaceAll("\\", "/").replace(/\.json$/, "")
)
