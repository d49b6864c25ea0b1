/**
 * Forms: how a text is read before rules compare it. A form reads a text, or calls it unreadable; it never guesses.
 *
 * A form's key is the normal form with one sign added, so that `under` is a plain prefix or suffix. Spec: `envelope/1`
 * section 16.
 */
import { isAddress, readDomain } from "./domain.ts"
import { readPath } from "./path.ts"
import { readScheme } from "./scheme.ts"

/** Names of forms, with their versions. */
export const formNames = ["path@1", "domain@1", "scheme@1"] as const

/** One of {@link formNames}. Spec: `envelope/1` section 16. */
export type FormName = (typeof formNames)[number]

/** Tests whose constants forms read. */
export type FormTest = "eq" | "under" | "suffix"

/** One way to read a text. */
export interface Form {
  /** The normal form of a text, or null: unreadable. */
  readonly read: (text: string, base: string | null) => string | null
  /** The key of a normal form, and a text that reads so. */
  readonly keyOf: (normal: string) => string
  readonly textOf: (key: string) => string
  /** The beginning and the end of every key. */
  readonly start: string
  readonly end: string
  /** True when a fresh text is made of a label that no constant takes, and not of a letter that no constant has. */
  readonly isOfLabels: boolean
  /** An unreadable text, for examples. */
  readonly unreadable: string
  /** The end of the key that `under` compares, or its beginning; null: there is no `under`. */
  readonly under: "prefix" | "suffix" | null
  /** A text in which a constant of a test is the normal form, or its end; null where it cannot be one. */
  readonly sample: (constant: string, test: FormTest) => string | null
  readonly noun: string
}

/** The forms by name. */
export const forms: { readonly [name in FormName]: Form } = {
  "path@1": {
    read: readPath,
    keyOf: (normal) => (normal === "/" ? normal : `${normal}/`),
    textOf: (key) => (key === "/" ? key : key.slice(0, -1)),
    start: "/",
    end: "/",
    isOfLabels: false,
    unreadable: "%",
    under: "prefix",
    sample: (constant, test) => (test === "suffix" ? `/x${constant}` : constant),
    noun: "path"
  },
  "domain@1": {
    read: readDomain,
    keyOf: (normal) => `.${normal}`,
    textOf: (key) => key.slice(1),
    start: ".",
    end: "",
    isOfLabels: true,
    unreadable: "@",
    under: "suffix",
    sample: (constant, test) => (test === "suffix" || (test === "under" && isAddress(constant)) ? null : constant),
    noun: "domain"
  },
  "scheme@1": {
    read: readScheme,
    keyOf: (normal) => normal,
    textOf: (key) => `${key}:x`,
    start: "",
    end: "",
    isOfLabels: true,
    unreadable: ":",
    under: null,
    sample: (constant, test) => (test === "eq" ? `${constant}:x` : null),
    noun: "scheme"
  }
}
