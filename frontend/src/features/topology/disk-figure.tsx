import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { Meter } from '@/components/meter';
import type { SampleFieldsFragment } from '@/gql/operations';
import { formatBytes, formatPercent } from '@/lib/format';
import { notCollected, unknown } from '@/lib/reading';
import { diskUsed } from './broker-view';
import classes from './disk-figure.module.css';

const warnFrom = 0.75;
const badFrom = 0.9;

/** How full a broker's disk is, as a bar and as figures. */
export function DiskFigure({ sample }: { sample: SampleFieldsFragment | null }) {
  const { t } = useTranslation();
  const used = diskUsed(sample);
  if (sample === null || used === null) {
    return <Figure reading={sample === null ? notCollected : unknown} format={String} />;
  }
  const free = formatBytes(Number(sample.diskFreeBytes));
  const tone = used >= badFrom ? 'bad' : used >= warnFrom ? 'warn' : 'plain';
  return (
    <span className={classes.disk}>
      <Meter end={used} tone={tone} label={t('brokers.diskUsed', { used: formatPercent(used) })} />
      <span className={classes.words}>{t('brokers.diskFree', { free })}</span>
    </span>
  );
}
