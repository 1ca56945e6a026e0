// How a fault run tells its figures, and what makes it fail.

/** `report.isClean` stays true as long as every figure that has to be 0 was 0 and nobody named a problem. */
export function createReport() {
  const report = {
    isClean: true,
    /** `zeros` names the figures that have to be 0; `isGood` judges the rest. */
    async row(title, { zeros = [], isGood = () => true }, run) {
      const started = performance.now();
      const { problems = [], ...figures } = await run();
      if (problems.length > 0 || zeros.some((name) => figures[name] !== 0) || !isGood(figures)) report.isClean = false;
      console.log(`${title} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(22)}${shown(value)}`);
      for (const problem of problems.slice(0, 10)) console.log(`  ! ${problem}`);
    },
  };
  return report;
}

function shown(value) {
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(1) : value;
}
