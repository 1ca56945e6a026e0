// Words for JSON data whose shape is checked elsewhere.

/** A JSON Schema object. Checked where it is used, not by its type. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export type JsonObject = { [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
