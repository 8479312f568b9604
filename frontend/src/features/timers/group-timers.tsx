import { useTranslation } from 'react-i18next';
import { Panel } from '@/components/panel';
import { formatInt64 } from '@/lib/format';
import { DueTable } from './due-table';
import type { BrokerTimers, DueBy } from './timer-queries';
import classes from './timers.module.css';
import { TopicTimersTable } from './topic-timers-table';

type GroupTimersProps = { timers: BrokerTimers; by: DueBy };

/** When the messages of one broker group are due, and of which topics they are. */
export function GroupTimers({ timers, by }: GroupTimersProps) {
  const { t } = useTranslation();
  const { brokerGroupName: name, topics } = timers;
  const spans = timers[by];
  return (
    <Panel title={t('timers.group', { name })} flush>
      {notesOf(timers).map(({ word, count }) => (
        <p key={word} className={classes.note}>
          {t(`timers.${word}`, { count: Number(count), shown: formatInt64(count) })}
        </p>
      ))}
      <div className={classes.tables}>
        {spans === null ? (
          <p className={classes.note}>{t('timers.stock')}</p>
        ) : (
          <DueTable label={t(`timers.${by}Of`, { name })} spans={spans} />
        )}
        <TopicTimersTable label={t('timers.topicsOf', { name })} topics={topics} />
      </div>
    </Panel>
  );
}

/** What the tables of a group do not show, or show elsewhere. */
function notesOf({ rolledCount, heldCount, untakenCount }: BrokerTimers) {
  const notes = [
    { word: 'rolled', count: rolledCount ?? '0' },
    { word: 'held', count: heldCount ?? '0' },
    { word: 'untaken', count: untakenCount },
  ] as const;
  return notes.filter(({ count }) => count !== '0');
}
