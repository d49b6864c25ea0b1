/** Checks the ids and names that come first in calls of the plain client: a host without types may pass anything. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { governorError } from "../../foundation/value-or-throw.ts"

/** Calls of a client. */
type Calls = { readonly [name: string]: (...args: Array<never>) => Promise<unknown> }

/**
 * Wraps calls so that each is refused with a sentence if a leading argument that should be a text is not one.
 *
 * `counts`: how many texts stand in front, where it is not one.
 */
export const requireStringIds = <D extends object>(client: D, counts: { readonly [K in keyof D]?: number } = {}): D =>
  Object.fromEntries(
    Object.entries(client as Calls).map(([name, call]) => {
      const count = (counts as { readonly [name: string]: number | undefined })[name] ?? 1
      return [
        name,
        count === 0
          ? call
          : (...args: Array<never>) => {
              const place = args.findIndex((value, at) => at < count && typeof value !== "string")
              const index = place >= 0 ? place : args.length < count ? args.length : -1
              return index < 0
                ? call(...args)
                : Promise.reject(
                    governorError(
                      new InvalidInput({
                        detail: [detailItem(["path", String(index)], "string_type", "Input should be a valid string")]
                      })
                    )
                  )
            }
      ]
    })
  ) as D
