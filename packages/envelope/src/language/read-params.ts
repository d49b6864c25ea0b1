/** Reads `params`, and constants that may name one. Spec: `SPEC.md` section 5. */
import type { Constant, Param, Scalar } from "./envelope.ts"
import { MAX_CONSTANT_TEXT, MAX_INT, MAX_PARAMS, MAX_VALUE_TEXT, MAX_VALUES, MIN_INT } from "./limits.ts"
import { allThere, quote, type Reading } from "./reading.ts"

/** The params by name; those that could not be read are left out. */
export const readParams = (reading: Reading, value: unknown): ReadonlyArray<Param> => {
  const members = value === undefined ? {} : (reading.map(value, "/params", MAX_PARAMS) ?? {})
  return Object.keys(members)
    .sort()
    .flatMap((name) => {
      const path = `/params/${name}`
      if (reading.name(name, "/params") === null) return []
      const given = members[name]
      const list = Array.isArray(given)
        ? (reading.list(given, path, 1, MAX_VALUES)?.map((item, i) => readScalar(reading, item, `${path}/${i}`)) ??
          null)
        : null
      const read = Array.isArray(given)
        ? list !== null && allThere(list)
          ? list
          : null
        : readScalar(reading, given, path)
      if (read !== null) return [{ name, value: read }]
      reading.unreadable.add(name)
      return []
    })
}

const readScalar = (reading: Reading, value: unknown, path: string): Scalar | null =>
  typeof value === "boolean"
    ? value
    : typeof value === "number"
      ? reading.integer(value, path, MIN_INT, MAX_INT)
      : reading.text(value, path, MAX_CONSTANT_TEXT)

/** A constant, or `{"param": name}` in its place; null after a finding. */
export const readConstant = (
  reading: Reading,
  value: unknown,
  path: string,
  params: ReadonlyArray<Param>
): Constant | null => {
  if (typeof value !== "object" || value === null) {
    const scalar = readScalar(reading, value, path)
    return scalar === null ? null : { value: scalar, param: null }
  }
  const param = readReference(reading, value, path, params)
  if (param === null) return null
  return Array.isArray(param.value)
    ? reading.say("E113", path, `One value is expected here, and the param ${param.name} is a list.`)
    : { value: param.value as Scalar, param: param.name }
}

/** A list of constants, or a param that is one. */
export const readConstants = (
  reading: Reading,
  value: unknown,
  path: string,
  params: ReadonlyArray<Param>
): ReadonlyArray<Constant> | null => {
  if (Array.isArray(value)) {
    const list =
      reading.list(value, path, 1, MAX_VALUES)?.map((item, i) => readConstant(reading, item, `${path}/${i}`, params)) ??
      null
    return list !== null && allThere(list) ? list : null
  }
  if (typeof value !== "object" || value === null)
    return reading.say("E113", path, "A list of constants is expected here, or a param that is one.")
  const param = readReference(reading, value, path, params)
  if (param === null) return null
  const scalars = (Array.isArray(param.value) ? param.value : [param.value]) as ReadonlyArray<Scalar>
  return scalars.map((scalar) => ({ value: scalar, param: param.name }))
}

const readReference = (reading: Reading, value: unknown, path: string, params: ReadonlyArray<Param>): Param | null => {
  const name = reading.text(reading.object(value, path, ["param"])?.["param"], `${path}/param`, MAX_VALUE_TEXT)
  if (name === null) return null
  return (
    params.find((param) => param.name === name) ??
    reading.unknown(name, `${path}/param`, `There is no param ${quote(name)}. Add it to params, or write the constant.`)
  )
}
