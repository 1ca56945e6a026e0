// The words that the tables of strict-tables.mjs are written in. A shape is a function: it answers with what is wrong, or
// with undefined. Members and alternatives that no table names go on a list, because a host ignores them and we should not.

/** @typedef {(value: unknown, path: string, unlisted: string[]) => string | undefined} Shape */

export const text = scalar("a string", (value) => typeof value === "string");
export const flag = scalar("a boolean", (value) => typeof value === "boolean");
export const number = scalar("a number", (value) => typeof value === "number" && Number.isFinite(value));
export const integer = scalar("an integer", Number.isSafeInteger);
export const count = scalar("a count", (value) => Number.isSafeInteger(value) && value >= 0);
export const nothing = scalar("null", (value) => value === null);
export const anything = scalar("there", (value) => value !== undefined);
export const record = scalar("an object", isObject);

export function oneOf(...values) {
  return scalar(`one of ${values.map((value) => JSON.stringify(value)).join(", ")}`, (value) => values.includes(value));
}

export function list(of) {
  return (value, path, unlisted) => {
    if (!Array.isArray(value)) return `${path} is not an array`;
    for (const [index, item] of value.entries()) {
      const problem = of(item, `${path}[${index}]`, unlisted);
      if (problem) return problem;
    }
    return undefined;
  };
}

/** Whichever alternative fits; what the first one says when none does. */
export function either(...shapes) {
  return (value, path, unlisted) => {
    const problems = [];
    for (const shape of shapes) {
      const own = [];
      const problem = shape(value, path, own);
      if (problem === undefined) return void unlisted.push(...own);
      problems.push(problem);
    }
    return problems[0];
  };
}

/** `name?` may be absent; null is not absence. `never` names what must not be there at all. */
export function members(table, { never = [] } = {}) {
  const rows = Object.entries(table).map(([key, shape]) => ({
    key: key.replace(/\?$/, ""),
    isOptional: key.endsWith("?"),
    shape,
  }));
  const known = new Set(rows.map(({ key }) => key));
  return (value, path, unlisted) => {
    if (!isObject(value)) return `${path} is not an object`;
    for (const { key, isOptional, shape } of rows) {
      if (isOptional && !Object.hasOwn(value, key)) continue;
      const problem = Object.hasOwn(value, key)
        ? shape(value[key], `${path}.${key}`, unlisted)
        : `${path}.${key} is missing`;
      if (problem) return problem;
    }
    for (const key of Object.keys(value)) {
      if (never.includes(key)) return `${path}.${key} must not be sent`;
      if (!known.has(key)) unlisted.push(`${path.replace(/\[\d+\]/g, "[]")}.${key}`);
    }
    return undefined;
  };
}

/** One table per value of the member `tag`; no other value is allowed. */
export function tagged(tag, tables) {
  const shapes = new Map(Object.entries(tables).map(([name, table]) => [name, withTag(tag, table)]));
  return (value, path, unlisted) => {
    if (!isObject(value)) return `${path} is not an object`;
    const shape = shapes.get(value[tag]);
    if (!shape) return `${path}.${tag} is ${JSON.stringify(value[tag])}, not one of ${[...shapes.keys()].join(", ")}`;
    return shape(value, path, unlisted);
  };
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withTag(tag, table) {
  return members({ [tag]: text, ...table });
}

function scalar(what, fits) {
  return (value, path) => (fits(value) ? undefined : `${path} is not ${what}`);
}
