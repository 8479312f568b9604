import { useTranslation } from 'react-i18next';
import { Meter } from './meter';
import { MoveItem } from './move-item';
import classes from './move-progress.module.css';
import { countsByStep, movedCount, type QueueMove } from './queue-moves';

/** How far a move is: as a whole, and each logical queue. */
export function MoveProgress({ label, moves }: { label: string; moves: readonly QueueMove[] }) {
  const { t } = useTranslation();
  const moved = movedCount(moves);
  const said = t('moves.moved', { moved, total: moves.length });
  const counts = countsByStep(moves);
  return (
    <div className={classes.progress}>
      <div className={classes.whole}>
        <strong className={classes.said}>{said}</strong>
        <Meter end={moves.length === 0 ? 0 : moved / moves.length} label={said} />
      </div>
      {counts.length > 1 ? (
        <ul className={classes.counts}>
          {counts.map(({ step, count }) => (
            <li key={step} className={classes.count} data-step={step}>
              {t('moves.count', { count, step: t(`moves.step.${step}`) })}
            </li>
          ))}
        </ul>
      ) : null}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <section className={classes.scroller} aria-label={label} tabIndex={0}>
        <ol className={classes.moves}>
          {moves.map((move) => (
            <MoveItem key={move.globalId} move={move} />
          ))}
        </ol>
      </section>
    </div>
  );
}
