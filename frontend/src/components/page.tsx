import { type ReactNode, useEffect } from 'react';
import { useKeptFocus } from '@/lib/keep-focus';
import classes from './page.module.css';

type PageProps = {
  title: string;
  /** The link back to the list this page came from. */
  crumb?: ReactNode;
  summary?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame of every page: what it is, the sentence that sums it up, what can be done. */
export function Page({ title, crumb, summary, actions, children }: PageProps) {
  useKeptFocus(title);
  useEffect(() => {
    document.title = `${title} · Regent`;
  }, [title]);
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <div className={classes.words}>
          {crumb ? <div className={classes.crumb}>{crumb}</div> : null}
          <h1 className={classes.title}>{title}</h1>
          {summary ? <div className={classes.summary}>{summary}</div> : null}
        </div>
        {actions ? <div className={classes.actions}>{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}
