import type { ReactNode } from 'react';
import classes from './tile.module.css';

type TileProps = { label: string; figure: ReactNode; foot?: ReactNode };

/** One figure of the overview with its name above and its time of observation below. */
export function Tile({ label, figure, foot }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt className={classes.label}>{label}</dt>
      <dd className={classes.figure}>{figure}</dd>
      <dd className={classes.foot}>{foot}</dd>
    </div>
  );
}
