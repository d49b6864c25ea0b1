/** Masks numbers that name a person or an account: records, events and lists show their last four characters. */
import { isKnownField, maskedFields } from "./document.ts"

/** The value as others see it. */
export const maskField = (name: string, value: string): string => {
  if (isKnownField(name) && !(maskedFields as ReadonlyArray<string>).includes(name)) return value
  const shown = value.length > 4 ? 4 : 0
  return "•".repeat(value.length - shown) + value.slice(value.length - shown)
}
