import { useTranslation } from 'react-i18next';
import classes from './move-progress.module.css';
import { moveSteps, type QueueMove } from './queue-moves';

/** One logical queue: between which broker groups it moves, and how far it is. */
export function MoveItem({ move }: { move: QueueMove }) {
  const { t } = useTranslation();
  const { globalId, sourceName, destinationName, step } = move;
  const done = moveSteps.indexOf(step);
  return (
    <li className={classes.move} data-step={step}>
      <span className={classes.head}>
        <span className={classes.name}>{t('segments.queue', { globalId })}</span>
        <span className={classes.step}>{t(`moves.step.${step}`)}</span>
      </span>
      <span className={classes.track} aria-hidden>
        {moveSteps.slice(1).map((one, at) => (
          <span key={one} className={classes.part} data-done={at < done} />
        ))}
      </span>
      {sourceName === null || destinationName === null ? null : (
        <span className={classes.way}>{t('moves.way', { sourceName, destinationName })}</span>
      )}
    </li>
  );
}
