import { IconCrown } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './set-figure.module.css';

type SetFigureProps = {
  ids: string[];
  members: string[];
  masterId: string | null;
  /** Members that are not heard. */
  dead?: string[];
};

/**
 * The replicas of a group: filled in the SyncStateSet, hollow outside, struck through if a member
 * is not heard, the master with a crown.
 */
export function SetFigure({ ids, members, masterId, dead = [] }: SetFigureProps) {
  const { t } = useTranslation();
  const outside = ids.filter((id) => !members.includes(id));
  const master = masterId === null ? '' : `, ${t('set.master', { id: masterId })}`;
  const silent = dead.length > 0 ? `, ${t('set.dead', { ids: dead.join(', ') })}` : '';
  const rest = outside.length > 0 ? `, ${t('set.outside', { ids: outside.join(', ') })}` : '';
  return (
    <span
      className={classes.set}
      role="img"
      aria-label={t('set.members', { ids: members.join(', ') }) + master + silent + rest}
    >
      {ids.map((id) => (
        <span
          key={id}
          className={classes.replica}
          data-in={members.includes(id)}
          data-dead={dead.includes(id)}
          aria-hidden
        >
          {id === masterId ? <IconCrown size={11} stroke={2} className={classes.crown} /> : null}
          {id}
        </span>
      ))}
    </span>
  );
}
