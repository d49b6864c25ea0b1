/** Finds the public test vectors. For tests only. */
import { readFileSync } from "node:fs"

/** Text of a file under `fixtures/vectors`. */
export const vectorText = (path: string): string => readFileSync(vectorUrl(path), "utf8")

/** Bytes of a file under `fixtures/vectors`. */
export const vectorBytes = (path: string): Uint8Array => Uint8Array.from(readFileSync(vectorUrl(path)))

const vectorUrl = (path: string): URL => new URL(`../../../../fixtures/vectors/${path}`, import.meta.url)
