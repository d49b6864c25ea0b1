/** How a text can stand in a file. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** One way to write a text down. */
export interface TextForm {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * The text in UTF-8, JSON-escaped, percent-encoded, UTF-16 both ways, hex, and in base64 wherever it begins in a larger
 * text.
 */
export const formsOf = (text: string): ReadonlyArray<TextForm> => {
  const utf8 = Buffer.from(text)
  const utf16 = Buffer.from(text, "utf16le")
  const escaped = text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  const forms: Array<TextForm> = [
    { name: "UTF-8", bytes: utf8 },
    { name: "UTF-16LE", bytes: utf16 },
    { name: "UTF-16BE", bytes: Buffer.from(utf16).swap16() },
    { name: "JSON-escaped", bytes: Buffer.from(escaped) },
    { name: "percent-encoded", bytes: Buffer.from(encodeURIComponent(text)) },
    { name: "hex", bytes: Buffer.from(utf8.toString("hex")) }
  ]
  for (const encoding of ["base64", "base64url"] as const) {
    for (const before of [0, 1, 2]) {
      // The first and last characters share bits with what stands beside the text.
      const encoded = Buffer.concat([Buffer.alloc(before), utf8])
        .toString(encoding)
        .replace(/=+$/, "")
      forms.push({
        name: `${encoding} behind ${before} bytes`,
        bytes: Buffer.from(encoded.slice(before === 0 ? 0 : before + 1, -1))
      })
    }
  }
  return forms
}

/** Every file under these folders that holds one of the forms, as `path: form`. */
export const filesWith = (folders: ReadonlyArray<string>, forms: ReadonlyArray<TextForm>): ReadonlyArray<string> =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap((entry) => {
        const bytes = readOrNull(join(entry.parentPath, entry.name))
        return bytes === null
          ? []
          : forms.filter((form) => bytes.includes(form.bytes)).map(({ name }) => `${entry.name}: ${name}`)
      })
  )

/** Null where the file went away meanwhile. */
const readOrNull = (file: string): Buffer | null => {
  try {
    return readFileSync(file)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null
    throw cause
  }
}
