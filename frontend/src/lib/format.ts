/** How quantities are written. Every figure in the console goes through here. */
const locale = 'en';
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const oneDecimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function formatCount(count: number): string {
  return whole.format(count);
}

/** Groups the digits of a 64-bit integer without passing through a float. */
export function formatInt64(text: string): string {
  return BigInt(text).toLocaleString(locale);
}

export function formatRate(perSecond: number): string {
  return perSecond > 0 && perSecond < 100 ? oneDecimal.format(perSecond) : whole.format(perSecond);
}

export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (Math.abs(amount) >= 1024 && unit < byteUnits.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(amount) >= 100 ? whole : oneDecimal;
  return `${digits.format(amount)} ${byteUnits[unit]}`;
}

export function formatPercent(fraction: number): string {
  if (fraction > 0 && fraction < 0.01) return '<1 %';
  return `${whole.format(fraction * 100)} %`;
}

export function formatDays(days: number): string {
  return days < 10 ? oneDecimal.format(days) : whole.format(days);
}

/** An age in its largest unit: "4 s", "12 min", "3 h", "5 d". */
export function formatAge(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A span in which tenths of a second count: "0.4 s", "12 s". */
export function formatSeconds(spanMs: number): string {
  if (spanMs > 0 && spanMs < 50) return '<0.1 s';
  const seconds = Math.max(0, spanMs) / 1000;
  return `${(seconds < 10 ? oneDecimal : whole).format(seconds)} s`;
}

/** A span in its two largest units: "3 h 20 min". */
export function formatSpan(spanMs: number): string {
  const minutes = Math.floor(spanMs / 60_000);
  if (minutes < 1) return `${Math.max(0, Math.round(spanMs / 1000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** What is left of a span, to the second: "9:07", and "0:00" once it is over. */
export function formatCountdown(leftMs: number): string {
  const seconds = Math.max(0, Math.ceil(leftMs / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const clockTime = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const dateAndTime = new Intl.DateTimeFormat('en-CA', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

export function formatClock(atMs: number): string {
  return clockTime.format(atMs);
}

export function formatDateTime(atMs: number): string {
  return dateAndTime.format(atMs).replace(',', '');
}

/** An instant of so long ago: the time of day, with its date once that could be another day's. */
export function formatMoment(atMs: number, ageMs: number): string {
  return ageMs < 43_200_000 ? formatClock(atMs) : formatDateTime(atMs);
}
