// What makes the name and the parameters of a tool usable, for front ends that lend tools of a host.

export { toolSchemaOf } from "../../extensions/load/load-factory.js";
