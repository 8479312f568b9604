import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconHelpCircle,
  IconInfoCircle,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './notice.module.css';

type NoticeProps = {
  tone: 'info' | 'good' | 'warn' | 'bad' | 'unknown';
  title: string;
  action?: ReactNode;
  /** Words that change every second are not read aloud each time. */
  isTicking?: boolean;
  children?: ReactNode;
};

const icons = {
  info: IconInfoCircle,
  good: IconCircleCheck,
  warn: IconAlertTriangle,
  bad: IconCircleX,
  unknown: IconHelpCircle,
};

/** Something the reader has to know before the figures: an error, a gap, a warning. */
export function Notice({ tone, title, action, isTicking = false, children }: NoticeProps) {
  const Icon = icons[tone];
  const loudness = tone === 'bad' ? 'alert' : 'status';
  return (
    <div className={classes.notice} data-tone={tone} role={isTicking ? 'timer' : loudness}>
      <Icon className={classes.icon} size={16} stroke={1.8} aria-hidden />
      <div className={classes.words}>
        <strong className={classes.title}>{title}</strong>
        {children ? <div className={classes.detail}>{children}</div> : null}
      </div>
      {action}
    </div>
  );
}
