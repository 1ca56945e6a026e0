// A moment as ISO 8601 in UTC, without Date: its first look at the calendar loads the time zones, and the stamp of a new
// session is on the way to the first answer.

const dayMs = 86_400_000;
const lastDay = 2_932_896; // 9999-12-31: later, or before 1970, Date writes it

export function isoTime(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (!(day >= 0 && day <= lastDay)) return new Date(ms).toISOString();
  const { year, month, date } = calendar(day);
  const rest = Math.trunc(ms - day * dayMs);
  const [hours, minutes] = [Math.floor(rest / 3_600_000), Math.floor(rest / 60_000) % 60];
  const [seconds, millis] = [Math.floor(rest / 1000) % 60, rest % 1000];
  return `${year}-${padded(month)}-${padded(date)}T${padded(hours)}:${padded(minutes)}:${padded(seconds)}.${padded(millis, 3)}Z`;
}

/** Days since 1970 as a date. Years are counted from March, so that the leap day is the last of its year. */
function calendar(day: number): { year: number; month: number; date: number } {
  const sinceEra = day + 719_468;
  const era = Math.floor(sinceEra / 146_097);
  const ofEra = sinceEra - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    date: ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

function padded(value: number, digits = 2): string {
  return String(value).padStart(digits, "0");
}
