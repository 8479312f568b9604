import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatClock, formatRate } from '@/lib/format';
import type { RatePoint } from '@/lib/live/sample-history';
import classes from './rate-chart.module.css';

type RateChartProps = {
  points: RatePoint[];
  label: string;
  timeLabel: string;
  inLabel: string;
  outLabel: string;
};

const height = 210;
const spanMinSeconds = 300;

function token(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

function axis(values: uPlot.Axis.Values, size: number): uPlot.Axis {
  const line = { stroke: token('--line'), width: 1 };
  return {
    stroke: token('--text-muted'),
    font: '11px "Inter Variable", sans-serif',
    grid: line,
    ticks: { ...line, size: 4 },
    values,
    size,
    gap: 6,
  };
}

function options(width: number, timeLabel: string, labels: [string, string]): uPlot.Options {
  const series = (label: string, name: string): uPlot.Series => ({
    label,
    stroke: token(name),
    width: 1.75,
    points: { size: 4, filter: alone },
    value: (_chart, rate) => (rate === null ? '–' : formatRate(rate)),
  });
  const inSeries = { ...series(labels[0], '--series-in'), fill: `${fade(token('--series-in'))}` };
  return {
    width,
    height,
    // The time under the last point stands half beyond it.
    padding: [8, 30, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    hooks: { setCursor: [showLatest], setData: [showLatest] },
    scales: {
      x: { range: timeRange },
      y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.12)] },
    },
    axes: [
      { ...axis((_chart, times) => times.map((time) => formatClock(time * 1000)), 28), space: 110 },
      axis((_chart, rates) => rates.map(formatRate), 52),
    ],
    series: [
      {
        label: timeLabel,
        value: (_chart, time) => (time === null ? '' : formatClock(time * 1000)),
      },
      inSeries,
      series(labels[1], '--series-out'),
    ],
  };
}

function fade(color: string): string {
  return color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.10)');
}

/** A line needs two points; one between gaps is drawn as a dot. */
function alone(chart: uPlot, series: number): number[] {
  const rates = chart.data[series] ?? [];
  return [...rates.keys()].filter(
    (at) =>
      rates[at] !== null && (rates[at - 1] ?? null) === null && (rates[at + 1] ?? null) === null,
  );
}

/** At least five minutes, so that a young chart grows into its frame from the right. */
function timeRange(chart: uPlot): uPlot.Range.MinMax {
  const times = chart.data[0];
  const last = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? last, last - spanMinSeconds), last];
}

/** While the pointer is not on the chart, the legend shows the latest figures. */
function showLatest(chart: uPlot): void {
  if (chart.cursor.idx === null || chart.cursor.idx === undefined) {
    chart.setLegend({ idx: chart.data[0].length - 1 }, false);
  }
}

function dataOf(points: RatePoint[]): uPlot.AlignedData {
  return [
    points.map((point) => point.atMs / 1000),
    points.map((point) => point.in),
    points.map((point) => point.out),
  ];
}

/** Message rates over time; a gap in the lines is a span without observations. */
export function RateChart({ points, label, timeLabel, inLabel, outLabel }: RateChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(points);
  const scheme = useComputedColorScheme();
  latest.current = points;

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read for each scheme
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const plot = new uPlot(
      options(element.clientWidth, timeLabel, [inLabel, outLabel]),
      dataOf(latest.current),
      element,
    );
    chart.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [scheme, timeLabel, inLabel, outLabel]);

  useEffect(() => {
    chart.current?.setData(dataOf(points));
  }, [points]);

  return <div ref={box} className={classes.chart} role="img" aria-label={label} />;
}
