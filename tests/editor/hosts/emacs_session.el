;;; What nvim_session.lua does, in Emacs by eglot.  -*- lexical-binding: t -*-
;;
;;   emacs --batch -l emacs_session.el      $SESSION: a JSON object, see hosts.py

(package-initialize)
(require 'json)
(require 'cl-lib)

(defvar given (json-parse-string (getenv "SESSION") :object-type 'plist))
(defvar deadline-s 60)

(load (plist-get given :setup) nil t)
(setq isoscope-command (list (plist-get given :isoscope) "lsp"))

(defun wait-for (what condition)
  "Return the first true value of CONDITION; WHAT it is."
  (cl-loop with end = (+ (float-time) deadline-s)
           for value = (funcall condition)
           when value return value
           when (> (float-time) end) do (error "%s: not within a minute" what)
           do (accept-process-output nil 0.05)))

(defun lenses ()
  "By line, from 1 on: what stands above it."
  (let (found)
    (dolist (overlay (overlays-in (point-min) (point-max)) found)
      (when (overlay-get overlay 'isoscope)
        (push (cons (number-to-string (line-number-at-pos (overlay-start overlay)))
                    (string-trim-right (substring-no-properties (overlay-get overlay 'before-string))))
              found)))))

(defun run (entry wanted)
  "Run ENTRY to its end; the lens of the hot function has WANTED in it then."
  (let ((start (float-time)))
    (isoscope-run entry)
    (wait-for "the program's end" (lambda () (equal (plist-get (isoscope-status) :link) "lost")))
    (isoscope-refresh)
    (wait-for "lenses" (lambda ()
                         (let ((text (cdr (assoc (number-to-string (plist-get given :hot)) (lenses)))))
                           (and text (string-search wanted text)))))
    `((status . ((text . ,(plist-get (isoscope-status) :text))))
      (lenses . ,(lenses)) (seconds . ,(- (float-time) start)))))

(defun self-of (note)
  "Its own share in percent, as Flymake's NOTE says."
  (let ((text (flymake-diagnostic-text note)))
    (if (string-match "self \\([0-9.]+\\)" text) (string-to-number (match-string 1 text)) 0)))

(defun jump-to-the-hot-line ()
  "Go to the hottest line that Flymake knows."
  (let* ((notes (wait-for "notes" (lambda () (flymake-diagnostics))))
         (hottest (car (sort notes (lambda (a b) (> (self-of a) (self-of b)))))))
    (goto-char (flymake-diagnostic-beg hottest))
    `((line . ,(line-number-at-pos)) (text . ,(thing-at-point 'line t)) (hint . ,(flymake-diagnostic-text hottest)))))

(defun jump-to-the-symbol ()
  "Go where workspace/symbol says that hot is."
  (let* ((server (eglot-current-server))
         (symbol (aref (jsonrpc-request server :workspace/symbol '(:query "hot")) 0))
         (line (plist-get (plist-get (plist-get (plist-get symbol :location) :range) :start) :line)))
    (goto-char (point-min))
    (forward-line line)
    `((name . ,(plist-get symbol :name)) (line . ,(line-number-at-pos)))))

(defun hover ()
  "What is said of the function in this line."
  (search-forward "hot(")
  (backward-char 2)
  (let ((contents (plist-get (jsonrpc-request (eglot-current-server) :textDocument/hover
                                              (eglot--TextDocumentPositionParams))
                             :contents)))
    (plist-get contents :value)))

(defun session ()
  "All of it."
  (isoscope-setup 'c++-mode :launch (plist-get given :launch))
  (find-file (plist-get given :file))
  (c++-mode)
  (let ((eglot-sync-connect t)) (apply #'eglot--connect (eglot--guess-contact)))
  (wait-for "the server" #'eglot-current-server)
  (let* ((first (run "even" "total")) (jump (jump-to-the-hot-line)) (symbol (jump-to-the-symbol)) (hover (hover)))
    `((first . ,first) (jump . ,jump) (symbol . ,symbol) (hover . ,hover) (second . ,(run "less" "▼")))))

(let ((seen (condition-case problem (session) (error `((problem . ,(format "%S" problem)))))))
  (with-temp-file (plist-get given :result) (insert (json-encode seen)))
  (ignore-errors (eglot-shutdown-all))
  (kill-emacs 0))
